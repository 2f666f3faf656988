"""Printers of KATANA's types for gdb, and commands that show its coroutines.

    (gdb) source /usr/share/katana/gdb/katana.py
    (gdb) print reply
    (gdb) katana-coroutines

Printers need a program with debug information (-g). The coroutines need its symbols only: they are read from memory, as
task_state.hpp and walked_list.hpp lay them out. `katana stack PID|CORE` runs this file, too.
"""
import re
import time

import gdb
import gdb.printing

WORD = 8                # bytes of a pointer
FRAMES_MAX = 64         # of a coroutine
COROUTINES_MAX = 10000  # of a list, which may be damaged


# ---- printers --------------------------------------------------------------------------------------------------------

CODES = ("invalid_argument", "not_found", "already_exists", "out_of_range", "resource_exhausted", "permission_denied",
         "unauthenticated", "unavailable", "deadline_exceeded", "cancelled", "unsupported", "data_loss", "internal")


def text_of(begin, size):
    """The characters at an address."""
    if int(size) == 0:
        return ""
    return begin.string("utf-8", "replace", int(size))


def code_name(number):
    """The name of a katana::Code."""
    return CODES[number] if number < len(CODES) else f"code {number}"


def error_text(error):
    """The code and the messages of a katana::Error, the widest first."""
    word = int(error["word_"])
    if word & 1:
        return code_name(word >> 1)
    # The library may have no debug information of the detail's type. It has a count, the code, the message and the
    # cause. The message is a std::string: its characters, its size and 16 bytes.
    code = code_name(memory_at(word + 4, 1)[0])
    messages = []
    while word != 0 and len(messages) < 16:
        size = word_at(word + 2 * WORD)
        messages.append(memory_at(word_at(word + WORD), min(size, 4000)).decode("utf-8", "replace") if size else "")
        word = word_at(word + 5 * WORD)
    return f"{code}: {': '.join(messages)}"


def duration_text(ns):
    """A number of nanoseconds in a unit that people use."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("us", 10**3)):
        if abs(ns) >= size:
            return f"{ns / size:.10g} {unit}"
    return f"{ns} ns"


class Text:
    """katana::Text: memory of the recycler."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        """Its characters."""
        return text_of(self.value["data_"], self.value["size_"])

    @staticmethod
    def display_hint():
        """With quotes."""
        return "string"


class Literal(Text):
    """katana::Literal: a text of the program."""

    def to_string(self):
        """Its characters."""
        return text_of(self.value["bytes_"]["_M_str"], self.value["bytes_"]["_M_len"])


class Whole:
    """A value that is one text."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        """As the program writes it."""
        raise NotImplementedError


class Error(Whole):
    """katana::Error."""

    def to_string(self):
        """Its code and messages."""
        return error_text(self.value)


class Duration(Whole):
    """katana::Duration."""

    def to_string(self):
        """In a unit that fits."""
        return duration_text(int(self.value["ns"]))


class Instant(Whole):
    """katana::Instant: a time of the monotonic clock."""

    def to_string(self):
        """Since the clock began."""
        return "at " + duration_text(int(self.value["ns"]))


class Uuid(Whole):
    """katana::Uuid."""

    def to_string(self):
        """In five groups."""
        octets = self.value["octets_"]["_M_elems"]
        digits = "".join(f"{int(octets[index]):02x}" for index in range(16))
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class Result:
    """katana::Result<T>, which is std::expected<T, Error>."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        """Whether it has a value; its error otherwise."""
        if bool(self.value["_M_has_value"]):
            return "value"
        return "error " + error_text(self.value["_M_unex"])

    def children(self):
        """Its value."""
        if not bool(self.value["_M_has_value"]):
            return
        try:
            value = self.value["_M_val"]
        except gdb.error:  # Result<void>
            return
        yield "value", value


class Task:
    """katana::Task<T>: where its coroutine waits."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        """The innermost place."""
        frame = int(self.value["frame_"]["_M_fr_ptr"])
        if frame == 0:
            return "no coroutine"
        if word_at(frame) == 0:
            return "done"
        # The promise follows the two pointers of the frame, and has the state behind its first member.
        frames = frames_of(frame + 3 * WORD)
        if not frames:
            return "runs, or has not begun"
        return "waits in " + "; awaits ".join(each.text() for each in frames)


def printers():
    """The printers by type."""
    made = gdb.printing.RegexpCollectionPrettyPrinter("katana")
    for name, printer in (("Text", Text), ("Literal", Literal), ("Error", Error), ("Duration", Duration),
                          ("Instant", Instant), ("Uuid", Uuid)):
        made.add_printer(name, f"^katana::{name}$", printer)
    made.add_printer("Result", "^std::expected<.*katana::Error>$", Result)
    made.add_printer("Task", "^katana::Task<.*>$", Task)
    return made


# ---- coroutines ------------------------------------------------------------------------------------------------------

def memory_at(address, size):
    """Bytes of the program."""
    return gdb.selected_inferior().read_memory(address, size).tobytes()


def word_at(address):
    """A number of eight bytes."""
    return int.from_bytes(memory_at(address, WORD), "little")


def view_at(address):
    """A std::string_view: its size, then its characters."""
    size, begin = word_at(address), word_at(address + WORD)
    return memory_at(begin, min(size, 1000)).decode("utf-8", "replace") if size else ""


def chars_at(address):
    """A text that ends with a zero."""
    text = b""
    while address and len(text) < 4000:
        try:
            piece = memory_at(address + len(text), 64)
        except gdb.MemoryError:
            piece = memory_at(address + len(text), 1)
        end = piece.find(b"\0")
        if end >= 0:
            text += piece[:end]
            break
        text += piece
    return text.decode("utf-8", "replace")


def address_of(name):
    """The address of a variable of the program; None: it has no such symbol."""
    found = re.search(r"is at 0x([0-9a-f]+)|is static storage at address 0x([0-9a-f]+)", info_address(name))
    return int(found.group(1) or found.group(2), 16) if found else None


def info_address(name):
    """The words of gdb about a symbol."""
    try:
        return gdb.execute(f"info address {name}", to_string=True)
    except gdb.error:
        return ""


class Frame:
    """One co_await that has not ended: a TaskState."""

    def __init__(self, state):
        kind, self.awaited, where, self.since = (word_at(state + index * WORD) for index in range(4))
        self.awaits = view_at(kind)
        self.is_task = not self.awaits
        self.file, self.function = chars_at(word_at(where)), chars_at(word_at(where + WORD))
        self.line = int.from_bytes(memory_at(where + 2 * WORD, 4), "little")

    def text(self):
        """Function, file and line."""
        where = "/".join(self.file.split("/")[-2:])
        return f"{self.function} at {where}:{self.line}" + (f" ({self.awaits})" if self.awaits else "")


def frames_of(state):
    """The frames of a suspended task, callers before callees."""
    frames = []
    while state and word_at(state) != 0 and len(frames) < FRAMES_MAX:
        frames.append(Frame(state))
        state = frames[-1].awaited if frames[-1].is_task else 0
    return frames


class Coroutine:
    """A coroutine that no other one awaits."""

    def __init__(self, started):
        self.frames = frames_of(word_at(started + 3 * WORD))
        self.route = self.request = ""
        activity = word_at(started + 4 * WORD)
        if activity:  # its second member is the site, then the name
            site = word_at(activity + WORD)
            if site:  # a std::string: its characters, then its size
                size = word_at(site + WORD)
                self.route = memory_at(word_at(site), min(size, 1000)).decode("utf-8", "replace") if size else ""
            self.request = view_at(activity + 2 * WORD)

    def waiting_ns(self, now):
        """Since one of its frames was suspended last; None: not known."""
        begun = max((frame.since for frame in self.frames), default=0)
        return now - begun if now and 0 < begun <= now else None


def coroutines():
    """All suspended coroutines of the program. None: it has no symbols of them."""
    lists = address_of("katana::ThreadLists<katana::StartedTask>::lists_")
    taken = address_of("katana::ThreadLists<katana::StartedTask>::taken_")
    if lists is None or taken is None:
        return None
    found = []
    for number in range(min(word_at(taken), 256)):
        ends = lists + number * 3 * WORD
        place = word_at(ends)
        while place not in (0, ends) and len(found) < COROUTINES_MAX:
            started = word_at(place + 2 * WORD)
            try:
                if started:
                    found.append(Coroutine(started))
            except gdb.MemoryError:  # it was stopped within a change, or its memory is damaged
                pass
            place = word_at(place)
    return [each for each in found if each.frames]


def coroutine_lines(now):
    """The text of all coroutines, those that wait longest first."""
    found = coroutines()
    if found is None:
        return ["no symbols of katana::StartedTask: the program is stripped, or has no coroutines of KATANA"]
    found.sort(key=lambda each: -(each.waiting_ns(now) or 0))
    lines = [f"coroutines: {len(found)} wait"]
    for each in found:
        waiting = each.waiting_ns(now)
        named = ": " + each.route if each.route else ""
        request = f", request {each.request}" if each.request else ""
        lines.append(f"waits{'' if waiting is None else ' for ' + duration_text(waiting)}{named}{request}")
        for depth, frame in enumerate(each.frames):
            awaits = f"  awaits {frame.awaits}" if frame.awaits else ""
            where = "/".join(frame.file.split("/")[-2:])
            lines.append(f"    {'  ' * depth}{frame.function}  {where}:{frame.line}{awaits}")
    return lines


def thread_lines():
    """The native stack of each thread."""
    lines = []
    for thread in sorted(gdb.selected_inferior().threads(), key=lambda each: each.num):
        thread.switch()
        lines.append(f"thread {thread.ptid[1] or thread.ptid[0]} '{thread.name or ''}'")
        frame, depth = gdb.newest_frame(), 0
        while frame is not None and depth < FRAMES_MAX:
            place = frame.find_sal()
            at = f"  {'/'.join(place.symtab.filename.split('/')[-2:])}:{place.line}" if place.symtab else ""
            lines.append(f"    #{depth:<2} {frame.name() or hex(frame.pc())}{at}")
            try:
                frame, depth = frame.older(), depth + 1
            except gdb.error as error:
                lines.append(f"    ({error})")
                break
    return lines


class Coroutines(gdb.Command):
    """katana-coroutines: where the suspended coroutines of the program wait, with their callers."""

    def __init__(self):
        super().__init__("katana-coroutines", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        """Prints them."""
        del argument, from_tty
        print("\n".join(coroutine_lines(time.monotonic_ns() if is_live() else 0)))


class Threads(gdb.Command):
    """katana-stack: the stacks of all threads, then those of all coroutines."""

    def __init__(self):
        super().__init__("katana-stack", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        """Prints them."""
        del argument, from_tty
        print("\n".join(thread_lines() + coroutine_lines(time.monotonic_ns() if is_live() else 0)))


def is_live():
    """Whether the program runs on this machine, and is no core file."""
    connection = getattr(gdb.selected_inferior(), "connection", None)
    return connection is not None and connection.type == "native"


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
Coroutines()
Threads()

# SPDX-License-Identifier: Apache-2.0
