import unittest

from till.basket import Basket


class BasketTest(unittest.TestCase):
    def setUp(self) -> None:
        self.basket = Basket()

    def test_an_empty_basket_costs_nothing(self) -> None:
        self.assertEqual(self.basket.total(), 0)

    def test_the_total_counts_every_piece(self) -> None:
        self.basket.add("tea", 450, count=3)
        self.basket.add("cup", 1200)
        self.assertEqual(self.basket.total(), 2550)

    def test_a_small_basket_pays_for_delivery(self) -> None:
        self.basket.add("tea", 450)
        self.assertEqual(self.basket.delivery(), 490)

    def test_delivery_is_free_from_fifty_euros_on(self) -> None:
        self.basket.add("teapot", 5000)
        self.assertEqual(self.basket.delivery(), 0)

    def test_the_dearest_item_is_the_one_with_the_highest_price(self) -> None:
        self.basket.add("tea", 450, count=3)
        self.basket.add("cup", 1200)
        self.assertEqual(self.basket.dearest().name, "cup")


if __name__ == "__main__":
    unittest.main()
