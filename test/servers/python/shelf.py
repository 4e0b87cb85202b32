"""A server that keeps books in SQLite, with values in its statements that end their string.

    python3 shelf.py [fixed] [memory]

find_book shows what the database says, find_reader hides that and shows rows, find_loan takes a number and does not look whether
it is one, and add_review puts a text into a row. run_select looks at the first word of a script, run_report at words of it that
it forbids. With "fixed" values are parameters, and the database itself is read only where it is to be read only. find_where, sort_books and
run_sql are there to take a part of a statement, or a whole one. With "memory" no file holds the database. It needs no package.
"""

import sqlite3
import sys
import tempfile

from stdio import serve

FIXED = "fixed" in sys.argv
PLACE = ":memory:" if "memory" in sys.argv else tempfile.mkdtemp() + "/shelf.db"
DATABASE = sqlite3.connect(PLACE, isolation_level=None)
DATABASE.executescript("""
    CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, reader TEXT);
    CREATE TABLE reviews (text TEXT);
    INSERT INTO books (title, reader) VALUES ('tea and honey', 'Ada'), ('milk and bread', 'Alan');
""")


def rows(statement: str, *values: object) -> str:
    return "\n".join(str(row) for row in DATABASE.execute(statement, values)) or "nothing"


def find_book(title: str) -> str:
    if FIXED:
        return rows("SELECT title FROM books WHERE title LIKE '%' || ? || '%'", title)
    return rows(f"SELECT title FROM books WHERE title LIKE '%{title}%'")


def find_reader(reader: str) -> str:
    try:
        if FIXED:
            return rows("SELECT id, title FROM books WHERE reader = ?", reader)
        return rows(f"SELECT id, title FROM books WHERE reader = '{reader}'")
    except sqlite3.Error:
        raise ValueError("the books cannot be read") from None


def find_loan(number: int) -> str:
    return rows("SELECT reader FROM books WHERE id = ?", number) if FIXED else rows(f"SELECT reader FROM books WHERE id = {number}")


def add_review(text: str) -> str:
    return rows("INSERT INTO reviews VALUES (?)", text) if FIXED else rows(f"INSERT INTO reviews VALUES ('{text}')")


def guarded(sql: str) -> str:
    """Runs a script, and shows what its last statement gives."""
    parts = [part for part in sql.split(";") if part.strip()]
    DATABASE.execute(f"PRAGMA query_only = {int(FIXED)}")
    try:
        return [rows(part) for part in parts][-1]
    finally:
        DATABASE.execute("PRAGMA query_only = 0")


def run_select(sql: str) -> str:
    if not sql.lower().startswith("select"):
        raise ValueError("only SELECT is allowed")
    return guarded(sql)


def run_report(sql: str) -> str:
    if any(word in sql for word in ("INSERT", "UPDATE", "DELETE", "DROP", "CREATE", "ALTER")):
        raise ValueError("the statement would change something")
    return guarded(sql)


def find_where(condition: str) -> str:
    return rows(f"SELECT title FROM books WHERE {condition}")


def sort_books(column: str) -> str:
    quoted = column.replace('"', '""')
    return rows(f'SELECT title FROM books ORDER BY "{quoted}"')


def run_sql(sql: str) -> str:
    return rows(sql)


serve("shelf", {
    find_book: ("Finds books by a part of their title.", {"title": {"type": "string"}}),
    find_reader: ("Finds the records of a reader.", {"reader": {"type": "string"}}),
    find_loan: ("Tells who has a book, by its number in the database.", {"number": {"type": "integer"}}),
    add_review: ("Adds a review to the database.", {"text": {"type": "string"}}),
    run_select: ("Runs an SQL query.", {"sql": {"type": "string"}}),
    run_report: ("Runs an SQL query for a report.", {"sql": {"type": "string"}}),
    find_where: ("Finds the books in the database for which a condition in SQL holds.", {"condition": {"type": "string"}}),
    sort_books: ("Lists all books in the database, in the order of a column.", {"column": {"type": "string"}}),
    run_sql: ("Runs any statement of SQL in the database.", {"sql": {"type": "string"}}),
})
