import unittest

from till.basket import Basket
from till.receipt import euros, pages, receipt


class ReceiptTest(unittest.TestCase):
    def test_cents_are_written_with_two_digits(self) -> None:
        self.assertEqual(euros(1205), "12.05")

    def test_a_receipt_ends_with_what_there_is_to_pay(self) -> None:
        basket = Basket()
        basket.add("tea", 450, count=2)
        self.assertEqual(
            receipt(basket),
            [
                "2 tea                     9.00",
                "delivery                  4.90",
                "to pay                   13.90",
            ],
        )

    def test_pages_hold_every_line_once(self) -> None:
        lines = [f"line {number}" for number in range(7)]
        self.assertEqual([len(page) for page in pages(lines, 3)], [3, 3, 1])


if __name__ == "__main__":
    unittest.main()
