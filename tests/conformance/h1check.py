#!/usr/bin/env python3
"""Check an HTTP/1.1 server against corpora of raw requests.

Each case is sent on a fresh connection in three ways:
  whole   all bytes at once;
  bytes   one byte per segment (cases of at most --bytes-max bytes);
  splits  once for every boundary, as two segments (cases of at most --split-max bytes).
A mode passes when the observed outcome is one of the outcomes the corpus allows. In `bytes` and `splits` the accepted
requests and their contents must also be those seen in `whole`: a parser's verdict may not depend on segmentation.

The server must answer GET and HEAD / with 2xx, and unknown paths with 404. It must answer any method on /echo with 200
and the request body as response body (--no-echo drops the checks of bodies). The strict corpus also uses the other
routes of hello_world_server. The fields of a case are described in h1case.py.

The last line is "N passed, N failed"; exit status 1 when something failed.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import ssl
import sys
import time

from h1case import (LEVELS, Outcome, continuations, expectation, load_cases, matches, part_bytes, raw_bytes)
from h1connection import Connection
from h1response import NON_HTTP, Malformed

HERE = os.path.dirname(os.path.abspath(__file__))
CORPORA = [os.path.join(HERE, name) for name in ("h1corpus.json", "h1strict.json")]
PROBE_ECHO = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}"
PROBE_PLAIN = "GET /?probe HTTP/1.1\r\nHost: localhost\r\n\r\n"
PLAIN = "plain"

Result = collections.namedtuple("Result", "mode passed preferred text")


class Runner:
    """Runs cases against one server; holds no state between cases, so any number of threads may share it."""

    def __init__(self, options):
        self.options = options

    # ---- one connection ------------------------------------------------------------------------

    def observe(self, case, segments, pause):
        """Send the segments on a fresh connection, `pause(connection)` between them, and return the Outcome."""
        outcome = Outcome()
        try:
            connection = Connection(self.options, case.get("head_responses", ()))
        except OSError as error:
            outcome.end = f"cannot connect ({error})"
            return outcome
        try:
            for index, segment in enumerate(segments):
                if index:
                    pause(connection)
                connection.send(segment)
                if connection.parser.eof or connection.failed_send:
                    break
            self._settle(case, connection, outcome)
        except Malformed as error:
            outcome.error = str(error)
            outcome.end = outcome.end or "abandoned"
        finally:
            connection.close()
        return outcome

    def _gap(self, connection):
        """Let the server see a segment on its own."""
        connection.receive(self.options.gap)

    def _stage(self, case):
        """Return the pause of a staged case: until 100 (Continue) where required, else until any answer or a while."""
        if all(expected.get("interim") != "required" for expected in case["expect"]):
            return lambda connection: connection.receive(self.options.wait)

        def wait_for_interim(connection):
            deadline = time.monotonic() + self.options.timeout
            while b"HTTP/1.1 100 " not in connection.parser.data:
                if not connection.receive(deadline - time.monotonic()):
                    break

        return wait_for_interim

    def _settle(self, case, connection, outcome):
        """Collect responses until the outcome is decided."""
        probe = None
        while outcome.end is None:
            response = connection.parser.next()
            if response is not None:
                self._take(response, connection, outcome, probe)
            elif connection.parser.eof:
                outcome.end = "closed"
            else:
                probe = self._wait(case, connection, outcome, probe)

    def _take(self, response, connection, outcome, probe):
        """Record one response; sets outcome.end when it decides."""
        if response == NON_HTTP:
            outcome.add(NON_HTTP, bytes(connection.parser.data))
            outcome.end = "any"
        elif response.status < 200 and response.status != 101:
            outcome.interim.append(response.status)
        elif probe and self._answers(response, probe):
            outcome.end = "open"
        else:
            outcome.add(response.status, response.body, response.fields)
            if response.status == 101:
                outcome.end = "any"
            elif response.close:
                outcome.end = "closed" if self._wait_for_close(connection, outcome) else "announced close, not closed"

    def _wait(self, case, connection, outcome, probe):
        """Wait for the next bytes; returns the probe that is under way. Sets outcome.end when silence decides."""
        complete, more = continuations(case, outcome)
        ends = {expected["end"] for expected in complete}
        if probe is None and "open" in ends and not more:
            return self._send_probe(connection)
        silence_decides = bool(ends & {"waiting", "any"})
        if connection.receive(self.options.wait if silence_decides else self.options.timeout):
            return probe
        if connection.parser.data:
            outcome.end = "incomplete response"
        elif probe is not None:
            outcome.end = "out of sync (probe unanswered)"
        elif outcome.responses and not silence_decides:
            return self._send_probe(connection)         # expected to be closed: still usable?
        else:
            outcome.end = "waiting"
        return probe

    def _send_probe(self, connection):
        if self.options.no_echo:
            connection.send(PROBE_PLAIN.encode())
            return PLAIN
        nonce = os.urandom(12).hex()
        connection.send(PROBE_ECHO.format(len(nonce), nonce).encode())
        return nonce

    @staticmethod
    def _answers(response, probe):
        return response.status < 300 if probe == PLAIN else response.body == probe.encode()

    def _wait_for_close(self, connection, outcome):
        """Wait for the announced close. A server that lingers waits for our FIN, so send it after a while."""
        for seconds in (self.options.wait, self.options.timeout):
            deadline = time.monotonic() + seconds
            while not connection.parser.eof and time.monotonic() < deadline:
                connection.receive(deadline - time.monotonic())
            if not connection.parser.eof:
                connection.half_close()
        while (extra := connection.parser.next()) is not None:   # any response after the last one is one too many
            outcome.add(extra if extra == NON_HTTP else extra.status)
            if extra == NON_HTTP:
                break
        return connection.parser.eof

    def unmet_requirement(self):
        """Return the requirement of the corpus that the server does not meet, or None."""
        requirements = [("GET / must be 2xx", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", None)]
        if not self.options.no_echo:
            requirements.append(("POST /echo must be 200 with the request content (or use --no-echo)",
                                 PROBE_ECHO.format(5, "hello"), "hello"))
        for text, request, body in requirements:
            expected = {"responses": ["2xx"], "bodies": [body], "end": "any"}
            outcome = self.observe({"expect": [expected]}, [request.encode()], self._gap)
            if not matches(expected, outcome):
                return f"{text}; got {outcome}"
        return None

    # ---- modes ---------------------------------------------------------------------------------

    def run_case(self, case):
        """Run a case in every mode that suits it; return a list of Result."""
        data, options = raw_bytes(case), self.options
        if case.get("staged"):
            outcome = self.observe(case, [part_bytes(part) for part in case["raw"]], self._stage(case))
            return [self._verdict("staged", case, outcome)]
        whole = self.observe(case, [data], self._gap)
        results = [self._verdict("whole", case, whole)]
        if 1 < len(data) <= options.bytes_max:
            outcome = self.observe(case, [data[i:i + 1] for i in range(len(data))], self._gap)
            results.append(self._verdict("bytes", case, outcome, whole))
        if 1 < len(data) <= options.split_max:
            results.append(self._run_splits(case, data, whole))
        return results

    def _run_splits(self, case, data, whole):
        """Split at every boundary (at a few when each costs a wait) up to the first that fails."""
        step = 1 if whole.end != "waiting" else max(1, len(data) // 3)
        for index in range(1, len(data), step):
            outcome = self.observe(case, [data[:index], data[index:]], self._gap)
            result = self._verdict("splits", case, outcome, whole, f" (split at {index})")
            if not result.passed:
                break
        return result

    def _verdict(self, mode, case, outcome, whole=None, where=""):
        check_bodies, text = not self.options.no_echo, str(outcome) + where
        passed = any(matches(expected, outcome, check_bodies) for expected in case["expect"])
        if passed and whole is not None and outcome.key() != whole.key():
            passed, text = False, f"{text}; differs from whole: {whole}"
        return Result(mode, passed, passed and matches(case["expect"][0], outcome, check_bodies), text)


class Summary:
    """Counts results, prints the failed ones (all with --verbose) and the totals."""

    def __init__(self, verbose=False, out=sys.stdout):
        self.verbose, self.out = verbose, out
        self.totals, self.preferred, self.record, self.cases = collections.Counter(), 0, [], 0

    def add(self, case, results):
        """Take the results of one case."""
        self.cases += 1
        for result in results:
            verdict = "passed" if result.passed else "failed"
            self.totals.update([verdict, f"{case['level']} {verdict}"])
            self.preferred += result.preferred
            self.record.append({"case": case["name"], **result._asdict()})
            if not result.passed or self.verbose:
                print(f"{'ok  ' if result.passed else 'FAIL'} {case['name']} "
                      f"[{result.mode}, {case['level']}, {case['section']}]: got {result.text}; "
                      f"allowed: {expectation(case)}", file=self.out, flush=True)

    def print_totals(self):
        """Print the counts; the last line is the verdict."""
        totals = self.totals
        for level in LEVELS:
            passed, failed = totals[f"{level} passed"], totals[f"{level} failed"]
            if passed + failed:
                print(f"{level}: {passed} passed, {failed} failed", file=self.out)
        print(f"{self.cases} cases; {self.preferred} of {totals['passed'] + totals['failed']} results are the "
              "preferred outcome", file=self.out)
        print(f"{totals['passed']} passed, {totals['failed']} failed", file=self.out)


def run(cases, options, out=sys.stdout):
    """Run the cases, print what fails and the totals; return the Summary."""
    summary, runner = Summary(options.verbose, out), Runner(options)
    unmet = runner.unmet_requirement()
    if unmet:
        print(f"the server does not meet the requirements: {unmet}", file=out)
        print("0 passed, 1 failed", file=out)
        summary.totals["failed"] = 1
        return summary
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, results in zip(cases, pool.map(runner.run_case, cases)):
            summary.add(case, results)
    summary.print_totals()
    return summary


def parse_options(arguments=None):
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("host", nargs="?", default="127.0.0.1")
    add("port", type=int, nargs="?", default=8080)
    add("--corpus", action="append", metavar="FILE", help="corpus to run, repeatable; default: both beside this script")
    add("--only", default="*", metavar="PATTERN", help="cases whose name or group matches (shell pattern)")
    add("--level", default=",".join(LEVELS), help="levels to run, comma-separated")
    add("--no-echo", action="store_true", help="the server has no /echo: skip content checks")
    add("--tls", action="store_true", help="connect over TLS (certificate not verified)")
    add("--whole-only", action="store_true", help="only the one-segment mode")
    add("--bytes-max", type=int, default=400, help="largest case sent octet by octet")
    add("--split-max", type=int, default=200, help="largest case split at every boundary")
    add("--gap", type=float, default=0.001, help="pause between segments, seconds")
    add("--wait", type=float, default=0.4, help="silence that counts as waiting, seconds")
    add("--timeout", type=float, default=3.0, help="longest wait for a response or a close, seconds")
    add("--jobs", type=int, default=32)
    add("--json", metavar="FILE", help="write every result to FILE")
    add("--verbose", action="store_true", help="print passing modes too")
    add("--list", action="store_true", help="list the cases and exit")
    add("--dump", metavar="NAME", help="write the octets of a case to stdout and exit")
    options = parser.parse_args(arguments)
    if options.whole_only:
        options.bytes_max = options.split_max = 0
    options.tls_context = tls_context() if options.tls else None
    return options


def tls_context():
    """Return a client context that trusts every certificate: the server is a test server."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    return context


def select_cases(options):
    """Return the cases the options ask for."""
    levels = options.level.split(",")
    return [case for path in options.corpus or CORPORA for case in load_cases(path)
            if case["level"] in levels and any(fnmatch.fnmatch(case[key], options.only) for key in ("name", "group"))]


def main():
    """Run the command line; return the exit status."""
    options = parse_options()
    cases = select_cases(options)
    if options.dump:
        sys.stdout.buffer.write(next(raw_bytes(case) for case in cases if case["name"] == options.dump))
        return 0
    if options.list:
        for case in cases:
            print(f"{case['name']:40} {case['level']:6} {case['section']:18} {expectation(case)}")
        return 0
    summary = run(cases, options)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(summary.record, out, indent=1)
    return 1 if summary.totals["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
