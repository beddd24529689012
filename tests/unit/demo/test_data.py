import csv
import io
import json

from brokernat.demo.data import customers_csv, make_orders


def test_the_same_seed_gives_the_same_orders_and_another_seed_others() -> None:
    assert make_orders(50, seed=3) == make_orders(50, seed=3)
    assert make_orders(50, seed=3) != make_orders(50, seed=4)


def test_expected_counts_follow_from_the_records_themselves() -> None:
    orders = make_orders(100, broken_of_each_kind=2, customers=10)
    known = {row["customer_id"] for row in csv.DictReader(io.StringIO(customers_csv(10)))}

    def becomes_a_tag(value: str) -> bool:
        try:
            order = json.loads(value)
        except ValueError:
            return False
        return isinstance(order["amount"], float) and order.get("customer_id") in known

    tags = sum(becomes_a_tag(value) for _, value in orders.records)
    assert (tags, len(orders.records) - tags) == (orders.expected_tags, orders.expected_dead_letters) == (100, 8)
