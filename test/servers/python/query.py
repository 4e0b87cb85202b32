"""A server that asks PostgreSQL for notes, with texts in its statements that end their string.

    python3 query.py [fixed]

find_note puts a name into quotes as it is, find_tag escapes quotes as MySQL has them, find_author forbids the comment that
attackers like and nothing else, and find_date doubles single quotes in a name of a column that stands in double ones.
run_query runs what it is given in a transaction that is read-only, and more than one statement; run_select looks at its first word.
With "fixed" values are parameters, names are quoted, and a statement is prepared. It speaks the protocol itself and needs no package.
"""

import socket
import struct
import sys

from stdio import serve

FIXED = sys.argv[1:] == ["fixed"]


class Database:
    """A connection that asks by Query without values, else by Parse and Bind."""

    def __init__(self) -> None:
        self.socket = socket.create_connection(("db.example.com", 5432), 5)
        start = struct.pack("!i", 196608) + b"user\0notes\0database\0notes\0\0"
        self.socket.sendall(struct.pack("!i", len(start) + 4) + start)
        self.until(b"R")
        self.send(b"p", b"secret\0")
        self.until(b"Z")

    def send(self, kind: bytes, body: bytes) -> None:
        self.socket.sendall(kind + struct.pack("!i", len(body) + 4) + body)

    def exactly(self, count: int) -> bytes:
        got = b""
        while len(got) < count:
            part = self.socket.recv(count - len(got))
            if not part:
                raise ConnectionError("the database is gone")
            got += part
        return got

    def until(self, wanted: bytes) -> None:
        while True:
            header = self.exactly(5)
            self.exactly(struct.unpack("!i", header[1:])[0] - 4)
            if header[:1] == wanted:
                return

    def ask(self, query: str, *values: str, prepared: bool = False) -> str:
        if not values and not prepared:
            self.send(b"Q", query.encode() + b"\0")
        else:
            self.send(b"P", b"\0" + query.encode() + b"\0" + struct.pack("!h", 0))
            texts = b"".join(struct.pack("!i", len(v.encode())) + v.encode() for v in values)
            self.send(b"B", b"\0\0" + struct.pack("!hh", 0, len(values)) + texts + struct.pack("!h", 0))
            self.send(b"E", b"\0" + struct.pack("!i", 0))
            self.send(b"S", b"")
        self.until(b"Z")
        return "no notes"


def find_note(name: str) -> str:
    query = "SELECT id, title FROM notes WHERE title = "
    return Database().ask(query + "$1", name) if FIXED else Database().ask(f"{query}'{name}'")


def find_tag(tag: str) -> str:
    query = "SELECT id FROM tags WHERE tag = "
    if FIXED:
        return Database().ask(query + "'" + tag.replace("'", "''") + "'")
    return Database().ask(query + "'" + tag.replace("'", "\\'") + "'")


def find_author(author: str) -> str:
    query = "SELECT id FROM notes WHERE author = "
    if FIXED:
        return Database().ask(query + "$1", author)
    if "--" in author:
        raise ValueError("comments are not allowed")
    return Database().ask(f"{query}'{author}' ORDER BY id")


def find_date(column: str) -> str:
    quoted = column.replace('"', '""') if FIXED else column.replace("'", "''")
    return Database().ask(f'SELECT "{quoted}" FROM dates')


def run_query(sql: str) -> str:
    database = Database()
    database.ask("BEGIN TRANSACTION READ ONLY")
    return database.ask(sql, prepared=FIXED)


def run_select(sql: str) -> str:
    if FIXED:
        return run_query(sql)
    if sql.split()[0].upper() not in ("SELECT", "WITH"):
        raise ValueError("only SELECT is allowed")
    return Database().ask(sql)


serve("query", {
    find_note: ("Finds a note in the database by its name.", {"name": {"type": "string"}}),
    find_tag: ("Finds the notes with a tag in the database.", {"tag": {"type": "string"}}),
    find_author: ("Finds the notes of an author in the database.", {"author": {"type": "string"}}),
    find_date: ("Finds the dates in a column of the database.", {"column": {"type": "string"}}),
    run_query: ("Runs an SQL statement in the database.", {"sql": {"type": "string"}}),
    run_select: ("Runs an SQL statement in the database; only SELECT is allowed.", {"sql": {"type": "string"}}),
})
