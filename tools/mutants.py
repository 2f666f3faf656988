"""mutants: small defects that can be planted in a C++ source, and the source that has all of them behind a switch.

A scan of tokens finds the statements of function bodies. A unit is what one switch replaces: the condition of an if,
while or for, an expression statement, a returned value, an initialiser. Each mutant is another text for one unit, so
that a source with every mutant compiles once (schemata):

    if (x < 3) f();     if (KATANA_MUTANT(1)
                          ? bool(x <= 3) :
                            bool(x < 3)) { if (KATANA_MUTANT(2)) { } else { f(); } }

Each alternative is on its own line, so a compiler's error names the mutant that does not compile. A mutant is
known by its file and by the text of its unit before and after, never by a line number.
"""

import bisect
import collections
import hashlib
import re

TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<directive>(?<=\n)[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)"
    r'|(?P<text>(?:u8|[LuU])?R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"|(?:u8|[LuU])?"(?:[^"\\\n]|\\.)*"'
    r"|(?:u8|[LuU])?'(?:[^'\\\n]|\\.)+')"
    r"|(?P<number>\.?\d(?:[eEpP][+-]|'[0-9a-fA-F]|[\w.])*)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><=>|<<=|>>=|\.\.\.|->\*|<<|::|->|\+\+|--|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)", re.S)
OPENERS, CLOSERS = {"(": ")", "[": "]", "{": "}"}, {")": "(", "]": "[", "}": "{"}
AFTER_PARAMETERS = {"const", "noexcept", "override", "final", "mutable", "&", "&&"}
SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-",
         "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+="}
KINDS = {"<": "boundary", "<=": "boundary", ">": "boundary", ">=": "boundary", "==": "condition", "!=": "condition",
         "&&": "condition", "||": "condition"}
LEFT_ALONE = re.compile(r"(KATANA_|static_assert|using\b|goto\b|throw\b|delete\b|\(void\)|std::unreachable)")
DECLARATION = {"auto", "const", "constexpr", "static", "thread_local", "using", "typename", "struct", "class", "enum",
               "union", "namespace", "template", "extern", "static_assert", "friend", "typedef", "inline", "volatile"}
COMMUTATIVE = {"if", "while", "for", "switch", "min", "max", "equals_ignoring_case", "equal_in_constant_time"}
Token = collections.namedtuple("Token", "kind text begin end spaced")  # spaced: white space before and after it


class Unit:
    """A piece of a source that mutants replace, kind: condition, statement, result, value or literal (of SQL)."""

    def __init__(self, kind, first, last, begin, end):
        self.kind, self.first, self.last = kind, first, last  # tokens [first, last)
        self.begin, self.end = begin, end  # offsets of the text
        self.inner, self.mutants = [], []


class Mutant:
    """One defect: its unit's text before and after, and which line of the source it changes."""

    def __init__(self, path, unit, operator, line, before, after, replacement):
        self.path, self.unit, self.operator, self.line = path, unit, operator, line
        self.before, self.after, self.replacement = before, after, replacement
        self.nth = 0  # position among the equal ones in the file
        self.number = 0

    @property
    def key(self):
        """Stays when lines move."""
        text = "\0".join((self.path, self.before, self.after, str(self.nth)))
        return hashlib.sha1(text.encode()).hexdigest()[:16]


def tokens_of(source):
    """Without space, comments and directives."""
    found, at = [], 0
    while at < len(source):
        match = TOKEN.match(source, at)
        if match is None:
            raise ValueError(f"no token at offset {at}")
        kind, text = match.lastgroup, match.group()
        if kind == "mark":
            kind = "text"
        if kind not in ("space", "directive"):
            spaced = at > 0 and source[at - 1].isspace() and match.end() < len(source) and source[match.end()].isspace()
            found.append(Token(kind, text, at, match.end(), spaced))
        at = match.end()
    return found


class Source:
    """The units and mutants of one file."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.tokens = tokens_of(text)
        self.lines = [0] + [match.end() for match in re.finditer("\n", text)]
        self.pair = self._pairs()
        self.role = {}  # opening brace -> code, scope or value
        self._classify()
        self.units = []
        for at, role in sorted(self.role.items()):
            if role == "code":
                self._statements(at + 1, self.pair[at])
        self._nest()
        self.mutants = []
        for unit in self.all_units:
            self._mutate(unit)
        self._conditions_of_sql()
        seen = collections.Counter()
        for mutant in self.mutants:
            identity = (mutant.before, mutant.after)
            mutant.nth = seen[identity]
            seen[identity] += 1

    def line_of(self, offset):
        return bisect.bisect_right(self.lines, offset)

    def word(self, at):
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def _pairs(self):
        pair, open_ones = {}, []
        for at, token in enumerate(self.tokens):
            if token.kind == "sign" and token.text in OPENERS:
                open_ones.append(at)
            elif token.kind == "sign" and token.text in CLOSERS and open_ones:
                other = open_ones.pop()
                pair[other], pair[at] = at, other
        return pair

    def _classify(self):
        for at, token in enumerate(self.tokens):
            if token.kind == "sign" and token.text == "{" and at in self.pair:
                self.role[at] = self._role(at)

    def _header(self, brace):
        """The tokens before a brace in its statement, groups as one token each, the last one first."""
        header, at = [], brace - 1
        while at >= 0:
            word = self.word(at)
            if word == "}" and self.role.get(self.pair.get(at)) != "value":
                break
            if self.tokens[at].kind == "sign" and (word in OPENERS or word == ";"):
                break
            if self.tokens[at].kind == "sign" and word in CLOSERS and at in self.pair:
                at = self.pair[at]
                word = self.word(at) + CLOSERS[word] if word not in CLOSERS else self.word(at)
                header.append("()" if self.word(at) == "(" else "[]" if self.word(at) == "[" else "{}")
            else:
                header.append(word)
            at -= 1
        return header

    def _role(self, brace):
        header = self._header(brace)
        if not header or header[0] == ":":
            outer = self._outer(brace)
            inside = outer is not None and self.word(outer) == "{" and self.role[outer] == "code"
            return "code" if inside else "value" if outer is not None and self.word(outer) != "{" else "scope"
        if "namespace" in header or (header[0].startswith('"') and "extern" in header):
            return "scope"
        if "()" not in header and {"struct", "class", "union", "enum"} & set(header):
            return "value" if "enum" in header else "scope"
        if header[0] in ("else", "do", "try"):
            return "code"
        at = 0
        while at < len(header) and header[at] in AFTER_PARAMETERS:
            at += 1
        if at < len(header) and header[at] == "()":
            return "code"
        if header[0] == "[]":
            before = header[1] if len(header) > 1 else ""
            return "value" if re.fullmatch(r"\w+|\)|\]|>", before) and before != "return" else "code"
        if "->" in header:
            arrow = header.index("->")
            rest = [word for word in header[arrow + 1:] if word not in AFTER_PARAMETERS]
            if rest and rest[0] in ("()", "[]") and "," not in self._outside_angles(header[:arrow]):
                return "code"
        return "value"

    @staticmethod
    def _outside_angles(header):
        depth, found = 0, []
        for word in header:  # the last one first
            depth += word.count(">") - word.count("<")
            if depth == 0:
                found.append(word)
        return found

    def _outer(self, at):
        at -= 1
        while at >= 0:
            if self.tokens[at].kind == "sign":
                if self.word(at) in CLOSERS and at in self.pair:
                    at = self.pair[at]
                elif self.word(at) in OPENERS:
                    return at
            at -= 1
        return None

    def _end_of_statement(self, at, stop):
        while at < stop:
            if self.tokens[at].kind == "sign":
                if self.word(at) in OPENERS:
                    at = self.pair.get(at, at)
                elif self.word(at) == ";":
                    return at
            at += 1
        return stop

    def _statements(self, at, stop):
        while at < stop:
            word = self.word(at)
            if word in ("if", "while", "for", "switch", "catch"):
                at += 1
                is_constant = self.word(at) == "constexpr"
                at += is_constant
                if self.word(at) != "(":
                    continue
                close = self.pair[at]
                if not is_constant and word in ("if", "while", "for"):
                    self._condition(word, at + 1, close)
                at = close + 1
                if word == "while" and self.word(at) == ";":
                    at += 1
            elif word in ("else", "do", "try", ";"):
                at += 1
            elif word == "[" and self.word(at + 1) == "[":
                at = self.pair[at] + 1  # an attribute, such as [[likely]]
            elif word == "{" and self.role.get(at) == "code":
                at = self.pair[at] + 1  # its statements are found separately
            elif word in ("case", "default"):
                while at < stop and self.word(at) != ":":
                    at += 1
                at += 1
            else:
                end = self._end_of_statement(at, stop)
                self._statement(at, end)
                at = end + 1

    def _add(self, kind, first, last, begin=None, end=None):
        if first < last:
            begin = self.tokens[first].begin if begin is None else begin
            end = self.tokens[last - 1].end if end is None else end
            if "\n#" not in self.text[begin:end]:
                self.units.append(Unit(kind, first, last, begin, end))

    def _condition(self, word, first, last):
        parts, begin, at = [], first, first
        while at < last:
            if self.tokens[at].kind == "sign" and self.word(at) in OPENERS:
                at = self.pair[at]
            elif self.word(at) == ";":
                parts.append((begin, at))
                begin = at + 1
            at += 1
        parts.append((begin, last))
        if word == "for" and len(parts) != 3:
            return
        first, last = parts[1] if word == "for" else parts[-1]
        if first < last and not self._declares(first, last):
            self._add("condition", first, last)

    def _declares(self, first, last):
        """Whether tokens declare a name, and not only use some."""
        if self.word(first) in DECLARATION:
            return True
        at = first
        if self.tokens[at].kind != "name" or self.word(at) in ("co_await", "return", "co_return", "this", "new", "not"):
            return False
        while at < last and (self.tokens[at].kind == "name" or self.word(at) == "::"):
            if self.tokens[at].kind == "name" and at > first and self.tokens[at - 1].kind == "name":
                return True
            at += 1
            if self.word(at) == "<" and not self.tokens[at].spaced:
                depth = 0
                while at < last:
                    depth += self.word(at).count("<") - self.word(at).count(">") * (self.word(at) != "->")
                    at += 1
                    if depth <= 0:
                        break
                if at < last and self.tokens[at].kind == "name":
                    return True
        if self.word(at) in ("*", "&", "&&") and not self.tokens[at].spaced:
            return at + 1 < last and self.tokens[at + 1].kind == "name"
        return at < last and self.tokens[at].kind == "name"

    def _statement(self, first, end):
        if end >= len(self.tokens) or self.word(end) != ";":
            return
        begin, close = self.tokens[first].begin, self.tokens[end].end
        if LEFT_ALONE.match(self.text, begin) or re.search(r"\.reserve\([^;]*;$", self.text[begin:close]):
            return
        word = self.word(first)
        if word in ("return", "co_return"):
            self._add("result", first, end, begin, close)
        elif word in ("break", "continue"):
            self._add("statement", first, end, begin, close)
        elif self._declares(first, end):
            if word in ("static", "constexpr", "using", "struct", "class", "enum") or "constexpr" in self.text[
                    begin:begin + 30]:
                return
            at = first
            while at < end and self.word(at) != "=":
                at = self.pair.get(at, at) + 1 if self.word(at) in OPENERS else at + 1
            if at + 1 < end and self.word(at + 1) != "{":
                self._add("value", at + 1, end)
        else:
            self._add("statement", first, end, begin, close)

    def _nest(self):
        """Units inside of lambdas belong to the unit around them."""
        self.all_units = sorted(self.units, key=lambda unit: (unit.begin, -unit.end))
        top, stack = [], []
        for unit in self.all_units:
            while stack and stack[-1].end <= unit.begin:
                stack.pop()
            (stack[-1].inner if stack else top).append(unit)
            stack.append(unit)
        self.top = top

    # Mutants

    def _own(self, unit):
        """The tokens of a unit without those of lambdas in it, and of the words of messages."""
        at = unit.first
        while at < unit.last:
            if self.word(at) == "format" and self.word(at - 2) == "fmt" and at + 1 in self.pair:
                at = self.pair[at + 1] + 1
                continue
            if self.word(at) == "{" and self.role.get(at) == "code":
                at = self.pair[at] + 1
                continue
            yield at
            at += 1

    def _propose(self, unit, operator, begin, end, text, whole=None):
        before = self.text[unit.begin:unit.end]
        replacement = whole if whole is not None else self.text[unit.begin:begin] + text + self.text[end:unit.end]
        flat, flat_after = squeeze(before), squeeze(replacement)
        if flat == flat_after or any(other.after == flat_after for other in unit.mutants):
            return
        mutant = Mutant(self.path, unit, operator, self.line_of(begin), flat, flat_after, replacement)
        unit.mutants.append(mutant)
        self.mutants.append(mutant)

    def _mutate(self, unit):
        if unit.kind == "condition":
            self._propose(unit, "condition", unit.begin, unit.end, "", "false")
            self._propose(unit, "condition", unit.begin, unit.end, "", "true")
        elif unit.kind == "statement":
            self._propose(unit, "removed", unit.begin, unit.end, "", ";")
        elif unit.kind == "result":
            self._returns(unit)
        for at in self._own(unit):
            token = self.tokens[at]
            if token.kind == "sign":
                self._sign(unit, at, token)
            elif token.kind == "number":
                self._number(unit, token)
            elif token.text in ("true", "false"):
                other = "false" if token.text == "true" else "true"
                self._propose(unit, "constant", token.begin, token.end, other)
            elif token.text in ("min", "max") and self.word(at - 1) == "::" and self.word(at + 1) == "(" and self.word(
                    at + 2) != ")":
                self._propose(unit, "call", token.begin, token.end, "max" if token.text == "min" else "min")

    def _returns(self, unit):
        word = self.word(unit.first)
        value = [self.word(at) for at in range(unit.first + 1, unit.last)]
        if not value:
            self._propose(unit, "removed", unit.begin, unit.end, "", ";")
        elif value not in (["true"], ["false"], ["0"], ["nullptr"], ["{", "}"], ["std", "::", "nullopt"]):
            self._propose(unit, "result", unit.begin, unit.end, "", f"{word} {{}};")

    def _number(self, unit, token):
        match = re.fullmatch(r"([\d']+)([uUlLzZ]*)", token.text)
        if match and not (len(match[1]) > 1 and match[1][0] == "0"):
            number = int(match[1].replace("'", ""))
            self._propose(unit, "constant", token.begin, token.end, f"{number + 1}{match[2]}")
            if number == 1:
                self._propose(unit, "constant", token.begin, token.end, f"0{match[2]}")

    def _sign(self, unit, at, token):
        if token.text in SWAPS and token.spaced and at > unit.first:
            self._propose(unit, KINDS.get(token.text, "arithmetic"), token.begin, token.end, SWAPS[token.text])
        if token.text in ("&&", "||") and token.spaced:
            left, right = self._operand(unit, at, -1), self._operand(unit, at, 1)
            self._propose(unit, "dropped", left, token.end, "")
            self._propose(unit, "dropped", token.begin, right, "")
        elif token.text == "!" and self.word(at + 1) != "=":
            self._propose(unit, "negation", token.begin, token.end, "")
        elif token.text == "?" and token.spaced:
            self._choice(unit, at)
        elif token.text == "(" and self.tokens[at - 1].kind == "name" and at > unit.first:
            self._arguments(unit, at)

    def _conditions_of_sql(self):
        """Each condition behind an AND in a literal is left out. No switch can do that: statements are constants."""
        for at, token in enumerate(self.tokens):
            if token.kind != "text":
                continue
            for match in re.finditer(r"\bAND [\w.]+ ?(?:=|<>|<=|>=|<|>) ?[$\w]+", token.text):
                unit = Unit("literal", at, at + 1, token.begin, token.end)
                begin = token.begin + match.start()
                numbers = re.findall(r"\$\d+", match.group())
                rest = "AND " + " AND ".join(f"{name} IS NOT NULL" for name in numbers) if numbers else ""
                self._propose(unit, "sql", begin, token.begin + match.end(), rest)

    def _operand(self, unit, at, step):
        """The offset where the operand of && or || at a token begins or ends."""
        stops = {"||", "?", ":", ",", "=", "return", "co_return", ";"} | ({"&&"} if self.word(at) == "&&" else set())
        here = at + step
        while unit.first <= here < unit.last:
            word = self.word(here)
            if self.tokens[here].kind == "sign" and here in self.pair:
                inward = word in (CLOSERS if step < 0 else OPENERS)
                if not inward:
                    break
                here = self.pair[here]
            elif word in stops:
                break
            here += step
        return self.tokens[here + 1].begin if step < 0 else self.tokens[here - 1].end

    def _choice(self, unit, at):
        here, depth = at + 1, 0
        while here < unit.last:
            word = self.word(here)
            if word in OPENERS and here in self.pair:
                here = self.pair[here]
            elif word == "?":
                depth += 1
            elif word == ":":
                if depth == 0:
                    break
                depth -= 1
            here += 1
        if here + 1 >= unit.last or here == at + 1:
            return
        end, first = self._operand(unit, here, 1), self.text[self.tokens[at + 1].begin:self.tokens[here - 1].end]
        second = self.text[self.tokens[here + 1].begin:end]
        self._propose(unit, "choice", self.tokens[at + 1].begin, end, f"{second} : {first}")

    def _arguments(self, unit, opener):
        close = self.pair.get(opener)
        if close is None or close > unit.last or self.word(opener - 1) in COMMUTATIVE:
            return
        parts, begin, at = [], opener + 1, opener + 1
        while at < close:
            if self.word(at) in OPENERS:
                at = self.pair.get(at, at)
            elif self.word(at) == "<" and not self.tokens[at].spaced:
                return  # a comma may be one of a template's arguments
            elif self.word(at) == ",":
                parts.append((begin, at))
                begin = at + 1
            at += 1
        parts.append((begin, close))
        if any(first >= last for first, last in parts) or any(
                self.role.get(here) == "code" for here in range(opener, close)):
            return
        for (first, last), (then, end) in zip(parts, parts[1:]):
            texts = [self.text[self.tokens[a].begin:self.tokens[b - 1].end] for a, b in ((first, last), (then, end))]
            self._propose(unit, "arguments", self.tokens[first].begin, self.tokens[end - 1].end,
                          f"{texts[1]}, {texts[0]}")


def squeeze(text):
    """One line, without comments."""
    return re.sub(r"\s+", " ", re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)).strip()


class Schemata:
    """A source with all of its mutants: the text, and which mutant or unit each line of it has."""

    def __init__(self, source, mutants):
        self.source, self.chosen = source, set(mutants)
        self.pieces, self.line = [], 1
        self.mutant_of, self.unit_of = {}, {}
        self._range(0, len(source.text), source.top)
        self.text = "".join(self.pieces)

    def _put(self, text):
        self.pieces.append(text)
        self.line += text.count("\n")

    def _range(self, begin, end, units):
        at = begin
        for unit in units:
            self._put(self.source.text[at:unit.begin])
            self._unit(unit)
            at = unit.end
        self._put(self.source.text[at:end])

    def _alternative(self, mutant, text):
        self._put("\n")
        self.mutant_of[self.line] = mutant
        self._put(text)

    def _unit(self, unit):
        mutants = [mutant for mutant in unit.mutants if mutant in self.chosen]
        first = self.line
        if not mutants:
            self._range(unit.begin, unit.end, unit.inner)
            return
        if unit.kind in ("condition", "value"):
            wrap = "bool" if unit.kind == "condition" else ""
            self._put("(")
            for mutant in mutants:
                text = f"KATANA_MUTANT({mutant.number}) ? {wrap}({squeeze(mutant.replacement)}) :"
                self._alternative(mutant, text)
            self._put(f"\n {wrap}(")
            self._range(unit.begin, unit.end, unit.inner)
            self._put("))")
        else:
            self._put("{")
            for mutant in mutants:
                text = f"if (KATANA_MUTANT({mutant.number})) {{ {squeeze(mutant.replacement)} }} else"
                self._alternative(mutant, text)
            self._put("\n {")
            self._range(unit.begin, unit.end, unit.inner)
            self._put("}}")
        for line in range(first, self.line + 1):
            self.unit_of.setdefault(line, unit)


def with_mutant(source, mutant):
    """The text of a source with one mutant, for one that does not fit behind a switch."""
    unit = mutant.unit
    return source.text[:unit.begin] + mutant.replacement + source.text[unit.end:]

# SPDX-License-Identifier: Apache-2.0
