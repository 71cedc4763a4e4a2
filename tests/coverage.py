#!/usr/bin/env python3
"""Line coverage of templates/transport and templates/net, merged over Verilated runs.

  coverage.py run FOLDER ROCEGEN SPEC [-- ARGUMENT...]   runs `rocegen sim --coverage SPEC ARGUMENT...`; its data goes to FOLDER
  coverage.py report FOLDER... [OPTION...]               merges all data below the folders, reports, judges

  --min PERCENT      each of the two folders must reach it (98)
  --justified FILE   uncovered lines that need no test (tests/coverage_justified.txt)
  --missing          lists every uncovered line, not only those that are not justified
  --json FILE        writes the figures

A line counts when Verilator has put a counter on it: it begins or belongs to a block of statements. It is covered when every such block
has run - so a branch on the line of its `if` is not covered by the `if` alone - in any instance, of any parameters, in any run. Lines
of generate branches that no run elaborated have no counters; a module that no run elaborated is an error.

The file of justified lines has an entry a line: `module.sv | text of the line | reason`. The text is that of the template without
blanks around it and stands for all such lines of the module. An entry whose line is gone, or is covered, is an error.

Exit code 0: all is well, 1: wrong use or data that does not belong to the templates, 4: coverage is not sufficient."""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import sys

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ["transport", "net"]
POINT = re.compile(r"\x01(\w+)\x02([^\x01]*)")


class Problem(Exception):
    """Something that is wrong with the input; ends the program with code 1."""


def line_numbers(text):
    """[141, 157, 158] of "141,157-158"."""
    out = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        out.extend(range(int(first), int(last or first) + 1))
    return out


def read_points(path, points):
    """Adds the counts of one file: {module file: {(line, column, kind): [count, lines]}}."""
    with open(path, encoding="latin-1") as data:
        if not data.readline().startswith("# SystemC::Coverage"):
            raise Problem("%s: is no coverage data of Verilator" % path)
        for number, text in enumerate(data, 2):
            body, quote, count = text.rpartition("' ")
            if not quote or not text.startswith("C '"):
                raise Problem("%s:%d: is no coverage point" % (path, number))
            fields = dict(POINT.findall(body))
            # A branch without statements, such as a missing else, has no lines.
            if "S" not in fields or not fields.get("page", "").startswith(("v_line", "v_branch")):
                continue
            key = (int(fields["l"]), int(fields["n"]), fields["o"])
            entry = points.setdefault(os.path.basename(fields["f"]), {}).setdefault(key, [0, line_numbers(fields["S"])])
            entry[0] += int(count)


def data_files(folders):
    files = []
    for folder in folders:
        found = sorted(glob.glob(os.path.join(folder, "**", "*.dat.*"), recursive=True))
        if not found:
            raise Problem("%s: holds no coverage data (*.dat.N)" % folder)
        files += found
    return files


def check_sources(folders, templates):
    """`run` keeps the RTL beside the data: it must be that of the templates, else line numbers mean something else."""
    for folder in folders:
        for path in sorted(glob.glob(os.path.join(folder, "**", "rtl", "*.sv"), recursive=True)):
            template = templates.get(os.path.basename(path))
            if template is None:
                continue
            with open(path, encoding="utf-8") as one, open(template, encoding="utf-8") as other:
                if one.read() != other.read():
                    raise Problem("%s: is not %s; run it again" % (path, os.path.relpath(template, HOME)))


def read_justified(path):
    """[(line number, module file, text, reason)]."""
    out = []
    if not os.path.exists(path):
        raise Problem("%s: cannot be read" % path)
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            # The text may hold bars, too: the module stands before the first, the reason behind the last.
            module, first, rest = line.partition(" | ")
            text, last, reason = rest.rpartition(" | ")
            if not first or not last or not module or not text.strip() or not reason.strip():
                raise Problem("%s:%d: is not `module.sv | text | reason`" % (path, number))
            out.append((number, module.strip(), text.strip(), reason.strip()))
    return out


def judge(points, templates, entries):
    """Figures of each module, uncovered lines, and what is wrong with the justified ones."""
    modules, uncovered, wrong = [], [], []
    used = set()
    for name, path in sorted(templates.items(), key=lambda item: (FOLDERS.index(folder_of(item[1])), item[0])):
        with open(path, encoding="utf-8") as file:
            source = [line.strip() for line in file]
        if not re.search(r"^module\b", "\n".join(source), re.MULTILINE):
            continue  # a package
        if name not in points:
            # A module that only joins others has nothing to count.
            if any(re.search(r"\balways(_ff|_comb)?\b", line.split("//")[0]) for line in source):
                wrong.append("%s: no run elaborated this module" % os.path.relpath(path, HOME))
            continue
        lines = {}
        for (_, _, _), (count, numbers) in points[name].items():
            for number in numbers:
                if number > len(source):
                    raise Problem("%s: has no line %d; the data is of another version" % (path, number))
                lines[number] = lines.get(number, True) and count > 0
        by_text = {}
        for number, _, text, _ in [e for e in entries if e[1] == name]:
            by_text.setdefault(text, number)
        missing = sorted(number for number, covered in lines.items() if not covered)
        for number in missing:
            justified = source[number - 1] in by_text
            if justified:
                used.add((name, source[number - 1]))
            uncovered.append((path, number, source[number - 1], justified))
        modules.append((folder_of(path), name, len(lines), len(lines) - len(missing)))
    for number, name, text, _ in entries:
        if (name, text) in used:
            continue
        if name not in templates:
            why = "there is no such module"
        else:
            with open(templates[name], encoding="utf-8") as file:
                why = "the line is covered" if text in [line.strip() for line in file] else "there is no such line"
        wrong.append("coverage_justified.txt:%d: %s | %s: %s" % (number, name, text, why))
    return modules, uncovered, wrong


def folder_of(path):
    return os.path.basename(os.path.dirname(path))


def percent(covered, lines):
    return 100.0 * covered / lines if lines else 100.0


def report(options):
    templates = {os.path.basename(p): p for f in FOLDERS for p in glob.glob(os.path.join(options.templates, f, "*.sv"))}
    if not templates:
        raise Problem("%s: holds no templates" % options.templates)
    entries = read_justified(options.justified)
    files = data_files(options.folders)
    check_sources(options.folders, templates)
    points = {}
    for path in files:
        read_points(path, points)
    modules, uncovered, wrong = judge(points, templates, entries)
    print("%-28s %6s %8s %8s" % ("module", "lines", "covered", "percent"))
    figures = {"files": len(files), "minimum": options.min, "folders": {}, "modules": {}, "uncovered": []}
    for folder in FOLDERS:
        rows = [m for m in modules if m[0] == folder]
        for _, name, lines, covered in rows:
            print("%-28s %6d %8d %8.2f" % (name, lines, covered, percent(covered, lines)))
            figures["modules"][name] = {"lines": lines, "covered": covered}
        lines, covered = sum(m[2] for m in rows), sum(m[3] for m in rows)
        figures["folders"][folder] = {"lines": lines, "covered": covered, "percent": round(percent(covered, lines), 2)}
        print("%-28s %6d %8d %8.2f" % ("templates/" + folder, lines, covered, percent(covered, lines)))
        if percent(covered, lines) < options.min:
            wrong.append("templates/%s: %.2f %% are less than %g %%" % (folder, percent(covered, lines), options.min))
    for path, number, text, justified in uncovered:
        place = "%s:%d" % (os.path.relpath(path, HOME), number)
        figures["uncovered"].append({"place": place, "text": text, "justified": justified})
        if options.missing or not justified:
            print("%s: %s%s" % (place, text, " (justified)" if justified else ""))
    open_lines = sum(1 for u in uncovered if not u[3])
    if open_lines:
        wrong.append("%d uncovered lines are not justified" % open_lines)
    for text in wrong:
        print("error: " + text)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=2)
            file.write("\n")
    print("%d data files merged, %d uncovered lines of which %d are justified: %s" %
          (len(files), len(uncovered), len(uncovered) - open_lines, "not sufficient" if wrong else "sufficient"))
    return 4 if wrong else 0


def run(options):
    arguments = options.arguments[1:] if options.arguments[:1] == ["--"] else options.arguments
    name = os.path.splitext(os.path.basename(options.spec))[0]
    what = re.sub(r"[^\w]+", "_", " ".join(arguments)).strip("_")[:60] or "all"
    folder = os.path.abspath(os.path.join(options.folder, name + "-" + what))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    environment = dict(os.environ, ROCEGEN_COVERAGE=os.path.join(folder, "coverage.dat"))
    # The variant lands beside the data; `report` compares its RTL with the templates.
    command = [options.rocegen, "sim", "--coverage", "-o", os.path.join(folder, "variant"), options.spec] + arguments
    code = subprocess.run(command, env=environment, check=False).returncode
    print("%s: %d data files" % (folder, len(glob.glob(os.path.join(folder, "*.dat.*")))))
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run")
    one.add_argument("folder")
    one.add_argument("rocegen")
    one.add_argument("spec")
    one.add_argument("arguments", nargs=argparse.REMAINDER)
    two = commands.add_parser("report")
    two.add_argument("folders", nargs="+", metavar="FOLDER")
    two.add_argument("--min", type=float, default=98.0)
    two.add_argument("--justified", default=os.path.join(HOME, "tests", "coverage_justified.txt"))
    two.add_argument("--templates", default=os.path.join(HOME, "templates"))
    two.add_argument("--missing", action="store_true")
    two.add_argument("--json")
    options = parser.parse_args()
    try:
        return run(options) if options.command == "run" else report(options)
    except Problem as problem:
        print("error: %s" % problem, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
