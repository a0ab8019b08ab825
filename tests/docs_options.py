#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs_options.py QFZ SOURCE - the options of qfz and their documentation agree.

  - docs/user/options.md is the output of `qfz help --markdown`.
  - Every option has a text, and the text of an option with a value names its default.
  - An option of qfz that a page names exists: README.md and docs/user/*.md.

In a code block, words after the command qfz or qfz-bench are checked against the options of that
command.  In inline code, a text that starts with an option is checked against the options of all
commands, unless OTHERS has the option; a text that starts with qfz is checked as a command."""
import pathlib
import re
import shlex
import subprocess
import sys

# Options of other programs that pages name in inline code.
OTHERS = {"--mem", "--mem-per-cpu", "--time", "--array", "--nodes", "--ntasks", "--ntasks-per-node",
          "--cpus-per-task", "--gpus-per-node", "--gres", "--signal", "--requeue", "--dependency",
          "--kill-on-bad-exit", "--kill-on-invalid-dep", "--bind-to", "--map-by", "--oversubscribe", "--prefix", "--preset", "--build", "--install",
          "--target", "--fmad", "-ffp-contract", "-np", "-n", "-N", "-D", "-S", "-B", "-R", "-L",
          "-r", "-l", "--extended-lambda"}
TASKS = ("label", "simplify", "saliency", "cut", "curve")
OPTION = re.compile(r"--?[A-Za-z][A-Za-z0-9-]*")

problems = []


def problem(where, what):
    problems.append(f"{where}: {what}")


def qfz(*words):
    return subprocess.run([sys.argv[1], *words], check=True, capture_output=True, text=True).stdout


def read_table():
    """{command: {option: argument}}"""
    table = {}
    for line in qfz("help", "--table").splitlines():
        command, option, argument = line.split("\t")
        table.setdefault(command, {})[option] = argument
    return table


def name_of(word, options):
    """The option in a word: --tile of --tile=64, -j of -j4."""
    if word.startswith("--"):
        return word.split("=")[0]
    if re.fullmatch(r"-[A-Za-z][0-9][0-9,]*", word) and options.get(word[:2]):
        return word[:2]
    return word


def check_command(where, words, table):
    """words: qfz and its arguments."""
    program = pathlib.PurePath(words[0]).name
    command = "qfz-bench" if program == "qfz-bench" else None
    for word in words[1:]:
        if word.endswith(":"):  # "qfz label: ..." is a message of qfz
            return
        if command is None or command == "run":
            if word in table and (command is None or word in TASKS):
                command = word
                continue
        if not OPTION.match(word):
            continue
        if command is None:
            if name_of(word, {}) not in ("-h", "--help", "--version", "--man"):
                problem(where, f"{word}: no command before the option")
            continue
        options = dict(table[command])
        if command in TASKS and "run" in words:
            options.update(table["run"])
        elif command == "run":
            for task in TASKS:
                options.update(table[task])
        if name_of(word, options) not in options:
            problem(where, f"{word}: not an option of {program} {command}")


def split_commands(line):
    """The simple commands of a line of shell, as lists of words."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        words = line.split()
    commands = [[]]
    for word in words:
        if word and set(word) <= set(";&|()<>"):
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


def check_line(where, line, table):
    for words in split_commands(line):
        at = [i for i, word in enumerate(words) if pathlib.PurePath(word).name in ("qfz", "qfz-bench")]
        # A program before qfz, as mpirun, has options of its own.
        if at:
            check_command(where, words[at[0]:], table)


def check_inline(where, code, table):
    known = set().union(*table.values()) | OTHERS | {"--man"}
    if re.match(r"(\S*/)?qfz(-bench)?\s", code):
        check_line(where, code, table)
    elif OPTION.match(code):
        options = {key: value for of in table.values() for key, value in of.items()}
        name = name_of(code.split()[0], options)
        if name not in known and not name.startswith("-D"):
            problem(where, f"{name}: no command of qfz has this option")


def check_page(path, table):
    in_block, joined = False, ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{path.name}:{number}"
        if re.match(r"\s*(```|~~~)", line):
            in_block, joined = not in_block, ""
        elif in_block:
            joined += line.split("#")[0] if line.lstrip().startswith("#") else line
            if joined.endswith("\\"):
                joined = joined[:-1] + " "
                continue
            check_line(where, joined.lstrip("$ "), table)
            joined = ""
        else:
            for code in re.findall(r"`([^`]+)`", line):
                check_inline(where, code, table)


def check_texts(table):
    for command in table:
        if command == "qfz-bench":
            continue
        page = qfz("help", "--markdown", command)
        for option, argument in table[command].items():
            found = [text for names, text in re.findall(r"^- (`.*?`): (.*)$", page, re.MULTILINE)
                     if option in re.split(r"[`, ]+", names)]
            if not found or len(found[0]) < 10:
                problem(f"qfz help {command}", f"{option} has no text")
            elif argument and "efault" not in found[0]:
                problem(f"qfz help {command}", f"{option}: its text names no default")


def main():
    source = pathlib.Path(sys.argv[2])
    table = read_table()
    page = source / "docs/user/options.md"
    if not page.exists() or page.read_text(encoding="utf-8") != qfz("help", "--markdown"):
        problem("docs/user/options.md", "differs from `qfz help --markdown`; replace it by this output")
    check_texts(table)
    for path in [source / "README.md", *sorted((source / "docs/user").glob("*.md"))]:
        check_page(path, table)
    for line in problems:
        print(line)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
