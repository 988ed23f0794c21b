"""What strict servers demand of the text of a request."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def surrogate_rules(body: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the characters of a request: halves of surrogate pairs are none."""
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        yield "the request holds a lone surrogate"
