"""The receipt of a basket, as the lines that are printed."""

from till.basket import Basket, Item

WIDTH = 30


def euros(cents: int) -> str:
    return f"{cents // 100}.{cents % 100:02d}"


def line(left: str, right: str) -> str:
    return left + right.rjust(WIDTH - len(left))


def item_line(item: Item) -> str:
    return line(f"{item.count} {item.name}", euros(item.price * item.count))


def receipt(basket: Basket) -> list[str]:
    lines = [item_line(item) for item in basket.items]
    lines.append(line("delivery", euros(basket.delivery())))
    lines.append(line("to pay", euros(basket.total() + basket.delivery())))
    return lines


def pages(lines: list[str], height: int) -> list[list[str]]:
    """The lines cut into pages of at most `height`."""
    return [lines[start : start + height] for start in range(0, len(lines), height)]
