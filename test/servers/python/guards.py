"""A server whose tools look at what they are given before they use it, and not closely enough.

    python3 guards.py [fixed]

Each tool has a guard that lets something through: a list of allowed commands that looks at the first word, a filter that
does not know the end of a line, a type that nobody checks, names that become paths or options, an eval without builtins, a parser of XML that opens what it is referred to.
With "fixed" the guards hold; pin_pane ends the server at the end of a line either way. It needs no package.
"""

import ast
import io
import os
import shlex
import subprocess
import sys
import xml.sax as xml_sax
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.sax.handler import feature_external_ges

from stdio import serve

FIXED = sys.argv[1:] == ["fixed"]
RULES = Path("/var/tmp/guards-rules")
ALLOWED = ("ls", "pwd", "date")


def run(command: str | list[str]) -> str:
    done = subprocess.run(command, shell=isinstance(command, str), capture_output=True, text=True, timeout=5)
    return done.stdout or done.stderr


def run_command(command: str) -> str:
    words = shlex.split(str(command))
    if not words or words[0] not in ALLOWED:
        raise ValueError(f"only {', '.join(ALLOWED)} are allowed")
    return run(words if FIXED else command)


def count_words(text: str) -> str:
    text = str(text)
    if not FIXED:
        if any(mark in text for mark in ";&|$`'\"()<>"):
            raise ValueError("the text holds a character that is not allowed")
        return run("echo " + text + " | wc -w")
    return run(["expr", str(len(text.split()))])


def show_pane(pane: Any) -> str:
    return run("echo pane %d" % pane if FIXED else f"echo pane {pane}")


def pin_pane(name: str) -> str:
    if "\n" in str(name):
        os._exit(3)  # which takes the other tools along
    return "pinned"


def within(name: str) -> Path:
    """Is name below RULES, if the guard holds."""
    path = RULES / name
    if FIXED and not path.resolve().is_relative_to(RULES):
        raise ValueError("the rule is not in the directory of rules")
    return path


def fetch_rule(rule_name: str) -> str:
    return within(str(rule_name) + ".md").read_text()


def read_rule(path: str) -> str:
    if ".." in str(path) or str(path).startswith("/"):
        raise ValueError("the path must not lead anywhere else")
    return within(unquote(str(path))).read_text()


def remove_rule(path: str) -> str:
    within(str(path).replace("../", "").lstrip("/")).unlink()
    return "removed"


def calculate(expression: str) -> str:
    if FIXED:
        return str(ast.literal_eval(str(expression)))
    return str(eval(str(expression), {"__builtins__": {}}))  # which keeps nobody from the classes of a tuple


def read_invoice(xml: str) -> str:
    """Shows the text of an invoice, and of what it refers to unless that is turned off."""
    class Text(xml_sax.ContentHandler):
        def __init__(self) -> None:
            super().__init__()
            self.parts: list[str] = []

        def characters(self, content: str) -> None:
            self.parts.append(content)

    parser, text = xml_sax.make_parser(), Text()
    parser.setFeature(feature_external_ges, not FIXED)
    parser.setContentHandler(text)
    parser.parse(io.BytesIO(str(xml).encode()))
    return "".join(text.parts)


def show_change(target: str) -> str:
    return run(["git", "log", "-1"] + (["--end-of-options", "--"] if FIXED else []) + [str(target)])


RULES.mkdir(parents=True, exist_ok=True)
(RULES / "style.md").write_text("Be plain.\n")
serve("guards", {
    run_command: ("Runs a command. Only ls, pwd and date are allowed.", {"command": {"type": "string", "description": "The command, such as `ls`."}}),
    count_words: ("Counts the words of a text with the program wc.", {"text": {"type": "string"}}),
    show_pane: ("Shows a pane of the screen by running echo.", {"pane": {"type": "integer", "minimum": 1}}),
    pin_pane: ("Pins a pane of the screen.", {"name": {"type": "string"}}),
    fetch_rule: ("Fetches a rule by its name.", {"rule_name": {"type": "string", "description": "The name of the rule, such as `style`."}}),
    read_rule: ("Reads the text of a rule.", {"path": {"type": "string", "description": "The path of the rule, such as `style.md`."}}),
    calculate: ("Calculates the value of an expression, such as `7`.", {"expression": {"type": "string"}}),
    read_invoice: ("Reads an invoice in XML.", {"xml": {"type": "string"}}),
    show_change: ("Shows a change of the repository by running git log.", {"target": {"type": "string", "description": "The revision, such as `HEAD`."}}),
    remove_rule: ("Removes a rule.", {"path": {"type": "string", "description": "The path of the rule."}}),
})
