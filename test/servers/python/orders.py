"""A server that brings credentials along, and gives them away.

    python3 orders.py [fixed]

The resource orders://settings holds the password of a database, and find_order puts the request that failed into its
error, with the key and all. With "fixed" neither does. new_code draws a code in each call, echo gives back what it got, and the
resource orders://manual shows the form of a key: none of these gives anything away. It needs no package.
"""

import secrets
import sys

from stdio import serve

FIXED = sys.argv[1:] == ["fixed"]
# Put together here, for nothing that searches sources for keys to find: they were never issued.
KEY = "sk_" + "live_" + "q7Zr2LmX9vKc4TnB8wYd3HsJ"
DATABASE = "postgresql://orders:" + "V3ry-l0ng-w0rd" + "@db.internal/orders"
ORDERS = {"1001": "two chairs", "1002": "a table"}

RESOURCES = {
    "orders://settings": "page size: 20\n" + ("database: from the environment\n" if FIXED else f"database: {DATABASE}\n"),
    "orders://manual": "Set the key of the shop as API_KEY=sk_live_xxxxxxxxxxxxxxxxxxxxxxxx or password: changeme123.\n",
}


def find_order(number: str) -> str:
    if number in ORDERS:
        return ORDERS[number]
    raise ValueError(f"no order {number}" if FIXED else f"GET /orders/{number}: 404 (request headers: Authorization: Bearer {KEY})")


def new_code() -> str:
    return "password: " + secrets.token_urlsafe(24) + "7a"


def echo(text: str) -> str:
    return text


serve("orders", {
    find_order: ("Finds an order by its number, such as `1001`.", {"number": {"type": "string"}}),
    new_code: ("Returns what a guest signs in with today.", {}),
    echo: ("Returns the text.", {"text": {"type": "string", "description": "Any text, such as `password: Winter2024!x`."}}),
}, RESOURCES)
