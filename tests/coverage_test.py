#!/usr/bin/env python3
"""Tests of coverage.py on made-up templates and data."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "coverage.py")
MODULE = """module one;
  always_ff @(posedge clk) begin
    if (a) x <= 1;
    else if (b) begin
      y <= 2;
      z <= 3;
    end
  end
endmodule
"""


def point(module, line, column, kind, lines, count, instance="top.i", page="v_branch"):
    text = "C '\x01f\x02rtl/%s.sv\x01l\x02%d\x01n\x02%d\x01page\x02%s/%s__P1\x01o\x02%s" % (module, line, column, page, module, kind)
    if lines:
        text += "\x01S\x02" + lines
    return text + "\x01h\x02%s' %d\n" % (instance, count)


class Coverage(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("templates/transport/one.sv", MODULE)
        self.write("templates/net/pkg.sv", "package pkg;\nendpackage\n")
        self.write("templates/net/join.sv", "module join;\n  // always joined\n  one one_i ();\nendmodule\n")
        self.write("justified.txt", "# none\n")

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="latin-1") as file:
            file.write(text)

    def data(self, name, counts, header="# SystemC::Coverage-3\n"):
        block, if_count, elsif, body = counts
        self.write("data/%s" % name, header + point("one", 2, 3, "block", "2", block, page="v_line") +
                   point("one", 3, 5, "if", "3", if_count) + point("one", 4, 10, "if", "4-6", body) +
                   point("one", 4, 10, "elsif", "4", elsif) + point("one", 4, 11, "else", "", 0))

    def report(self, *more):
        where = [os.path.join(self.folder.name, d) for d in ("data", "templates", "justified.txt", "out.json")]
        done = subprocess.run([sys.executable, TOOL, "report", where[0], "--templates", where[1], "--justified", where[2], "--json",
                               where[3]] + list(more), capture_output=True, text=True, check=False)
        figures = None
        if os.path.exists(where[3]):
            with open(where[3], encoding="utf-8") as file:
                figures = json.load(file)
        return done.returncode, done.stdout + done.stderr, figures

    def test_runs_are_merged(self):
        self.data("a.dat.1", (9, 0, 4, 1))
        code, text, figures = self.report()
        self.assertEqual(code, 4)
        self.assertEqual(figures["modules"]["one.sv"], {"lines": 5, "covered": 4})
        self.assertIn("one.sv:3: if (a) x <= 1;", text)
        self.assertIn("80.00 % are less than 98 %", text)
        self.data("b/b.dat.2", (9, 2, 0, 0))
        code, text, figures = self.report()
        self.assertEqual((code, figures["folders"]["transport"]["percent"]), (0, 100.0))

    def test_one_block_of_a_line_is_not_enough(self):
        self.data("a.dat.1", (9, 1, 4, 0))
        code, _, figures = self.report()
        self.assertEqual(code, 4)
        self.assertEqual([u["text"] for u in figures["uncovered"]], ["else if (b) begin", "y <= 2;", "z <= 3;"])

    def test_justified(self):
        self.data("a.dat.1", (9, 0, 4, 1))
        self.write("justified.txt", "one.sv | if (a) x <= 1; | a never comes\n")
        self.assertEqual(self.report()[0], 4)  # still below 98 %
        code, text, figures = self.report("--min", "80")
        self.assertEqual(code, 0, text)
        self.assertTrue(figures["uncovered"][0]["justified"])
        self.data("b.dat.1", (9, 1, 4, 1))
        code, text, _ = self.report("--min", "80")
        self.assertEqual(code, 4)
        self.assertIn("the line is covered", text)

    def test_stale_and_malformed_entries(self):
        self.data("a.dat.1", (9, 1, 4, 1))
        self.write("justified.txt", "one.sv | gone; | was there\nno.sv | x | y\n")
        code, text, _ = self.report()
        self.assertEqual(code, 4)
        self.assertIn("justified.txt:1: one.sv | gone;: there is no such line", text)
        self.assertIn("justified.txt:2: no.sv | x: there is no such module", text)
        self.write("justified.txt", "one.sv | if (a) x <= 1; |\n")
        code, text, _ = self.report()
        self.assertEqual(code, 1)
        self.assertIn("is not `module.sv | text | reason`", text)

    def test_text_with_bars(self):
        self.write("templates/transport/one.sv", MODULE.replace("(a)", "(a || c | d)"))
        self.data("a.dat.1", (9, 0, 4, 1))
        self.write("justified.txt", "one.sv | if (a || c | d) x <= 1; | never\n")
        self.assertEqual(self.report("--min", "80")[0], 0)

    def test_module_that_was_never_elaborated(self):
        self.data("a.dat.1", (9, 1, 4, 1))
        self.write("templates/net/two.sv", "module two;\n  always_comb x = y;\nendmodule\n")
        code, text, _ = self.report()
        self.assertEqual(code, 4)
        self.assertIn("two.sv: no run elaborated this module", text)
        self.assertNotIn("join.sv", text)

    def test_data_of_other_sources(self):
        self.data("a.dat.1", (9, 1, 4, 1))
        self.write("data/variant/rtl/one.sv", MODULE)
        self.assertEqual(self.report()[0], 0)
        self.write("data/variant/rtl/one.sv", MODULE + "\n")
        code, text, _ = self.report()
        self.assertEqual(code, 1)
        self.assertIn("run it again", text)

    def test_no_data(self):
        os.makedirs(os.path.join(self.folder.name, "data"))
        self.assertEqual(self.report()[0], 1)
        self.data("a.dat.1", (9, 1, 4, 1), header="nothing\n")
        self.assertEqual(self.report()[0], 1)


if __name__ == "__main__":
    unittest.main()
