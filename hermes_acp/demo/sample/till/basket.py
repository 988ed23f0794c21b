"""What somebody wants to buy, and what it costs."""

from dataclasses import dataclass, field

DELIVERY = 490
FREE_DELIVERY_FROM = 5000


@dataclass
class Item:
    name: str
    price: int
    count: int = 1


@dataclass
class Basket:
    items: list[Item] = field(default_factory=list)

    def add(self, name: str, price: int, count: int = 1) -> None:
        self.items.append(Item(name, price, count))

    def total(self) -> int:
        return sum(item.price * item.count for item in self.items)

    def delivery(self) -> int:
        """Delivery costs DELIVERY; from FREE_DELIVERY_FROM on it is free."""
        if self.total() > FREE_DELIVERY_FROM:
            return 0
        return DELIVERY

    def dearest(self) -> Item:
        return max(self.items, key=lambda item: item.price)
