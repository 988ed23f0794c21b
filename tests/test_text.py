@given(st.text(max_size=400), st.integers(60, 200))
def test_cutting_twice_is_cutting_once_and_never_longer_than_asked(text, limit):
    cut = head_and_tail(text, limit)
    assert len(cut) <= limit or cut == text
    assert head_and_tail(cut, limit) == cut
    assert cut[:5] == text[:5]
    assert cut[-5:] == text[-5:]
