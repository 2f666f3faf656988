#!/usr/bin/python3
"""Tests of tools/prose.py: which sentences it sees, and what it says of them."""

import sys
import unittest

sys.dont_write_bytecode = True
import prose  # noqa: E402  (its folder is that of this file)


def texts(path, text):
    return [sentence.text for sentence in prose.sentences(path, text)]


def rules(path, text):
    return [mistake.rule for mistake in prose.mistakes(path, text)]


class SentencesTest(unittest.TestCase):
    def test_a_paragraph_an_item_and_a_cell_end_a_sentence(self):
        self.assertEqual(texts("a.md", "One\ntwo. Three\n\n- four\n  five\n- six\n\n| seven | eight |\n|---|---|\n"),
                         ["One two.", "Three", "four five", "six", "seven", "eight"])

    def test_code_headings_and_comments_of_markdown_are_no_sentences(self):
        self.assertEqual(texts("a.md", "# Nobody\n\n```\nnobody\n```\n<!-- nobody -->\n\n    nobody\n\n"
                                       "`nobody` [reads](nobody.md)\n"), ["\0 reads"])

    def test_lines_of_a_comment_are_one_text(self):
        self.assertEqual(texts("lab/a.cpp", "// One\n// two. Three\n//\n// four\nint a;  // five\n"),
                         ["One two.", "Three", "four", "five"])

    def test_a_contract_has_a_text_for_each_word_of_it(self):
        self.assertEqual(texts("katana/a.hpp", "// Owns       bytes.\n// Thread     any:\n//            see there.\n"),
                         ["bytes.", "any: see there."])

    def test_literals_count_where_programs_print_them(self):
        literal = 'f("one text of words", R"(no other text of words)", "short");\n'
        self.assertEqual(texts("katana/a.cpp", literal), ["one text of words"])
        self.assertEqual(texts("katana/a_test.cpp", literal), [])
        self.assertEqual(texts("lab/a.cpp", 'f("// one text of words");'), [])

    def test_statements_and_markup_are_no_sentences(self):
        for literal in ("SELECT a FROM b WHERE c = d", "INSERT INTO items of all", "<!doctype html> of all kinds"):
            self.assertEqual(texts("katana/a.cpp", f'f("{literal}");'), [])
        self.assertEqual(texts("katana/a.cpp", 'f("SELECT is a word of SQL");'), [])
        self.assertEqual(texts("katana/a.cpp", 'f("the word SELECT of SQL");'), ["the word SELECT of SQL"])

    def test_comments_and_docstrings_of_python(self):
        self.assertEqual(texts("a.py", '#!/usr/bin/python3\n"""One two."""\nA = "# no"  # three\n# four\n# five\n'),
                         ["three", "four five", "One two."])

    def test_lines_are_those_of_the_file(self):
        found = list(prose.mistakes("a.md", "---\ntitle: x\n---\n\nGood.\nNobody reads.\n"))
        self.assertEqual([mistake.line for mistake in found], [6])


class RulesTest(unittest.TestCase):
    def test_fillers_as_subjects_are_found(self):
        for text in ("Nobody reads.", "It helps whoever reads.", "It ends by itself.", "A list of its own.",
                     "The list is that which ends."):
            with self.subTest(text):
                self.assertEqual(rules("a.md", text), ["subject"])

    def test_ordinary_uses_are_not(self):
        for text in ("It has its own list.", "Reactors of its own node share it.", "A client that reads.", '"nobody"'):
            with self.subTest(text):
                self.assertEqual(rules("a.md", text), [])

    def test_openings_are_found_but_not_in_questions(self):
        for word in ("Who", "What", "Of", "Beside", "So", "Else"):
            with self.subTest(word):
                self.assertEqual(rules("a.md", f"It ends. {word} comes later waits."), ["opening"])
        self.assertEqual(rules("a.md", "What is a reactor?"), [])

    def test_words_of_specifications_are_found_but_not_where_one_is_quoted(self):
        self.assertEqual(rules("a.md", "An octet of the peer."), ["octet", "peer"])
        self.assertEqual(rules("a.md", "An octet of the peer (RFC 9112 §6.3)."), [])
        self.assertEqual(rules("a.md", "`peer()` and application/octet-stream"), [])

    def test_a_sentence_has_at_most_25_words(self):
        self.assertEqual(rules("a.md", "word " * 25 + "."), [])
        self.assertEqual(rules("a.md", "word " * 26 + "."), ["long"])
        self.assertEqual(rules("a.md", ("Word " + "word " * 23 + "word. ") * 2), [])

    def test_generated_pages_are_judged_at_their_source(self):
        self.assertEqual(rules("docs/reference/settings.md", "Nobody reads."), [])


class RatchetTest(unittest.TestCase):
    def test_lowering_never_raises_and_drops_what_is_mended(self):
        tree = {"a.md": "Nobody reads.", "b.md": "Fine.", "c.md": "Nobody reads."}
        ratchet = {"a.md": {"subject": 3, "long": 1}, "b.md": {"long": 1}, "d.md": {"long": 1}}
        self.assertEqual(prose.lowered(tree.items(), ratchet), {"a.md": {"subject": 1}})


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
