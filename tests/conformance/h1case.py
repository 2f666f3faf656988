"""The cases of a corpus: what to send, what may be observed, and whether an outcome is one of the allowed ones.

A corpus is a JSON file with a list `cases`. Fields of a case:

  name      unique in all corpora
  group     what it is about: request-line, method, target, fields, …
  section   the rule it checks
  level     must | should | may (several outcomes are conforming)
  note      why the case exists
  raw       parts joined to the bytes to send; a part is a Latin-1 string or {"repeat": S, "times": N}
  staged    true: parts are sent one by one, each next one after an answer or a short wait
  head_responses  indices of responses to HEAD
  expect    allowed outcomes, the preferred one first:
    responses   final status of each response in order: "2xx", "400", "400|501", …;
                "non-http" = bytes that are no HTTP/1.x response
    bodies      contents of the responses: a Latin-1 string, a list of parts as in raw, or null = any
    body_sizes  likewise, lengths only
    fields      one object per response, or null: {name: text} equal but for case, {name: null} absent,
                {name: true} present. With {name: [members]}, a comma-separated list holds these members
    same_fields pairs of indices: responses that differ in no field but Date
    interim     "required" or "forbidden": 100 (Continue)
    end         open     connection still usable and in sync (a probe request is answered next)
                closed   closed by the server
                waiting  neither answered nor closed within --wait seconds
                any      not checked
"""
import json
import re

LEVELS = ("must", "should", "may")
ENDS = ("open", "closed", "waiting", "any")
CASE_KEYS = {"name", "group", "section", "level", "note", "raw", "staged", "head_responses", "expect"}
EXPECT_KEYS = {"responses", "bodies", "body_sizes", "fields", "same_fields", "interim", "end"}
STATUS_PATTERN = re.compile(r"(?:[1-5](?:[0-9]{2}|xx)|non-http)(?:\|(?:[1-5](?:[0-9]{2}|xx)))*")


class Outcome:
    """The observations on one connection."""

    def __init__(self):
        self.responses, self.bodies, self.fields, self.interim = [], [], [], []
        self.end = self.error = None

    def add(self, status, body=b"", fields=None):
        """Append a final response."""
        self.responses.append(status)
        self.bodies.append(body)
        self.fields.append(fields or {})

    def key(self):
        """The part that must not depend on segmentation: the accepted requests and their contents."""
        return [(s, b) for s, b in zip(self.responses, self.bodies) if isinstance(s, int) and 200 <= s < 300]

    def __str__(self):
        text = " ".join(map(str, self.responses)) or "no response"
        if self.interim:
            text = f"({' '.join(map(str, self.interim))}) {text}"
        if self.error:
            text += f", malformed: {self.error}"
        return f"{text}, {self.end}"


def load_cases(path):
    """Return the cases of the corpus in the file `path`."""
    with open(path, encoding="ascii") as corpus:
        return json.load(corpus)["cases"]


def part_bytes(part):
    """Return the bytes of one part."""
    if isinstance(part, str):
        return part.encode("latin-1")
    return part["repeat"].encode("latin-1") * part["times"]


def parts_bytes(parts):
    """Return the bytes of a string or of a list of parts."""
    return part_bytes(parts) if isinstance(parts, str) else b"".join(map(part_bytes, parts))


def raw_bytes(case):
    """Return all bytes a case sends."""
    return parts_bytes(case["raw"])


def status_matches(pattern, status):
    """True when a status (or "non-http") is one of the alternatives of a pattern such as "400|5xx"."""
    text = str(status)
    return any(option == text or (option.endswith("xx") and isinstance(status, int) and option[0] == text[0])
               for option in pattern.split("|"))


def prefix_matches(expected, outcome):
    """True when the responses seen so far are a prefix of the expected ones."""
    want = expected["responses"]
    return len(outcome.responses) <= len(want) and all(map(status_matches, want, outcome.responses))


def continuations(case, outcome):
    """Return (expectations whose responses have all been seen, expectations that wait for more)."""
    possible = [expected for expected in case["expect"] if prefix_matches(expected, outcome)]
    seen = len(outcome.responses)
    return ([e for e in possible if len(e["responses"]) == seen], [e for e in possible if len(e["responses"]) > seen])


def bodies_match(expected, outcome):
    """True when contents and their sizes are the expected ones."""
    for want, body in zip(expected.get("bodies", []), outcome.bodies):
        if want is not None and parts_bytes(want) != body:
            return False
    return all(want == len(body) for want, body in zip(expected.get("body_sizes", []), outcome.bodies))


def field_matches(want, value):
    """True when the value of a field (None: absent) is the wanted one; see `fields` above."""
    if want is None or value is None:
        return want is value
    if want is True:
        return True
    if isinstance(want, str):
        return want.lower() == value.lower()
    members = {member.strip().lower() for member in value.split(",")}
    return all(member.lower() in members for member in want)


def fields_match(expected, outcome):
    """True when the fields of the responses are the expected ones."""
    for wants, fields in zip(expected.get("fields", []), outcome.fields):
        if not all(field_matches(want, fields.get(name)) for name, want in (wants or {}).items()):
            return False
    for pair in expected.get("same_fields", []):
        first, second = ({k: v for k, v in outcome.fields[index].items() if k != "date"} for index in pair)
        if first != second:
            return False
    return True


def matches(expected, outcome, check_bodies=True):
    """True when the outcome is the expected one."""
    if outcome.error or len(outcome.responses) != len(expected["responses"]) or not prefix_matches(expected, outcome):
        return False
    if expected["end"] not in ("any", outcome.end):
        return False
    interim = expected.get("interim")
    if (interim == "required" and 100 not in outcome.interim) or (interim == "forbidden" and outcome.interim):
        return False
    return fields_match(expected, outcome) and (not check_bodies or bodies_match(expected, outcome))


def expectation(case):
    """Return the allowed outcomes of a case as text."""
    return " or ".join(f"{' '.join(e['responses']) or 'no response'}, {e['end']}" for e in case["expect"])


def fault_of(case):
    """Return the mistake in the form of a case, or None."""
    unknown = set(case) - CASE_KEYS or {key for e in case["expect"] for key in e} - EXPECT_KEYS
    if unknown:
        return f"unknown keys {sorted(unknown)}"
    if case["level"] not in LEVELS or not case["expect"]:
        return "bad level or no expectation"
    for expected in case["expect"]:
        if expected["end"] not in ENDS:
            return f"bad end {expected['end']!r}"
        if not all(STATUS_PATTERN.fullmatch(pattern) for pattern in expected["responses"]):
            return f"bad responses {expected['responses']}"
        for key in ("bodies", "body_sizes", "fields"):
            if key in expected and len(expected[key]) != len(expected["responses"]):
                return f"as many {key} as responses, please"
    return None

# SPDX-License-Identifier: Apache-2.0
