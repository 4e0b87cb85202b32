"""A server that keeps what it is given for later, and looks at it in one place only.

    python3 keeper.py [fixed]

set_variable keeps a variable for run_report, save_page saves a page under the name that its host gives it, show_page shows
the notes that a page includes, count_rows puts the name of a table in quotes, and show_order tells in an error how it
reaches its database. With "fixed" each of them looks at what it is given. It needs no package.
"""

import os
import re
import sqlite3
import subprocess
import sys
import urllib.request
from pathlib import Path

from stdio import serve

FIXED = sys.argv[1:] == ["fixed"]
NOTES = Path("/var/tmp/keeper-notes")
STORE = "postgresql://keeper:" + "Vq7tLx93mZpR2wYc" + "@db.internal:5432/orders"
VARIABLES: dict[str, str] = {}


def set_variable(name: str, value: str) -> str:
    if FIXED and name not in ("LANG", "TZ"):
        raise ValueError("only LANG and TZ can be set")
    VARIABLES[name] = value
    return "set"


def run_report() -> str:
    return subprocess.run(["date"], env={**os.environ, **VARIABLES}, capture_output=True, text=True, timeout=5).stdout


def inside(name: str) -> Path:
    path = NOTES / name
    if FIXED and not path.resolve().is_relative_to(NOTES):
        raise ValueError("that is not in the directory of notes")
    return path


def save_page(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("that is no page")
    with urllib.request.urlopen(url, timeout=5) as page:
        inside(page.headers.get_filename() or "page.html").write_bytes(page.read())
    return "saved"


def show_page(page: str) -> str:
    return re.sub(r"\{\{note ([^{}]+)\}\}", lambda found: inside(found[1]).read_text(), page)


def count_rows(table: str) -> str:
    quoted = str(table).replace('"', '""') if FIXED else table
    with sqlite3.connect(NOTES / "orders.db") as store:
        store.execute("CREATE TABLE IF NOT EXISTS orders (number INTEGER)")
        return str(store.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()[0])


def show_order(number: str) -> str:
    if not str(number).isdigit():
        raise ValueError("that is no number" if FIXED else f"no order {number} in {STORE}")
    return f"order {number}"


NOTES.mkdir(parents=True, exist_ok=True)
(NOTES / "a.txt").write_text("Be plain.\n")
serve("keeper", {
    set_variable: ("Sets a variable of the environment of run_report.", {"name": {"type": "string", "description": "The name, such as `LANG`."}, "value": {"type": "string", "description": "The value, such as `C`."}}),
    run_report: ("Runs the report with date.", {}),
    save_page: ("Downloads a page and saves it in the directory of notes.", {"url": {"type": "string", "description": "The URL, such as `https://pages.example.com/a`."}}),
    show_page: ("Shows a page with the notes that it includes.", {"page": {"type": "string", "description": "The page, such as `See {{note a.txt}}`."}}),
    count_rows: ("Counts the rows of a table of the database.", {"table": {"type": "string", "description": "The table, such as `orders`."}}),
    show_order: ("Shows an order.", {"number": {"type": "string", "description": "The number, such as `17`."}}),
})
