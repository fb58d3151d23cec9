#!/usr/bin/env python3
"""Compares the PTX accepted by gemu with the PTX accepted by NVIDIA's assembler.

    tools/assembler/ptxas.py PTXAS             (of the Python package nvidia-cuda-nvcc)
    tools/assembler/ptxas.py PTXAS --mutants [N] [OPCODE ...]
    tools/assembler/ptxas.py PTXAS --forms [N] [OPCODE ...]
    tools/assembler/ptxas.py PTXAS --list [FILE ...]
    tools/assembler/ptxas.py PTXAS --modules [N]

Without --mutants: every case and workload has to assemble, and every line of bad/ that
bears ERROR has to be refused, alone among the lines that do not. With it: instructions
of every form of the instruction table, and what becomes of them when modifiers are moved,
doubled or dropped and operands exchanged, dropped or added (tools/assembler/mutants), have to
be taken by both or refused by both; with N, that many at random. With --forms: every form
with every combination of its modifiers, and what differs from that in a modifier or in the type
of a register, for the newest targets that the assembler knows; with N, about that many of each
for a form. With --list: the instructions of lists that were not made from the instruction table
(tools/assembler/forms-*.txt), so that a missing row shows; a table
that wants a newer .version or target than the list is a difference, too. With --modules: N small modules of declarations, directives, calls and jumps, a word
of which is dropped, doubled, exchanged for another or moved. Prints where that is not
so, but for the differences below, and ends with status 1 if there are any. --forms and --mutants
say on stderr how far they are.
"""

import collections
import concurrent.futures
import glob
import itertools
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile

# Files that gemu accepts and the assembler rejects.
TAKEN = {
    "testdata/good/manual.ptx": "examples of the manual, old ones among them",
    "testdata/good/shapes.ptx": "texture examples of the manual, which mix both modes of textures",
    "testdata/good/wgmma.ptx": "types that the file's version does not have yet",
    "testdata/control/call_list.ptx": "passes a parameter of the function on",
    "testdata/control/extern.ptx": "an .extern variable that the module defines",
    "testdata/corpus/clang_O0_50.ptx": "the address of an .extern function, which a linker would bring",
}

# Lines that gemu rejects and the assembler accepts, by a part of their text.
REFUSED = {
    r'"at most 65536': "a limit of gemu's",
    r'"registers|registers"': "a limit of gemu's",
    r'declared twice"': "clashes with a line that gemu refuses",
    r"(st|red)\.async\.mmio\.release\.gpu": "a scope that release 12 of the assembler does not look at",
    r"mbarrier\.init.*b must be": "a count that release 12 of the assembler does not look at",
    r"tcgen05.*is loaded twice": "a register twice, at which release 12 does not look",
    r"lop3.*0\.\.255": "a table of nine bits: the manual has eight",
}

# Mutants that only gemu or only the assembler accepts: the kind of change, the instruction, the
# message of the refusal if it matters, and the reason for the difference.
MUTANTS = [
    (r"operand", r"^(st\.async|red\.async)", "the assembler fails with an internal error"),
    (r"", r"^st\.async\.\S*mbarrier", "a vector without .v2: the assembler guesses, and warns"),
    (r"operand g", r"^mov\.(v2\.)?(b16|b32|u16|s16|u32|s32)", "the address of a variable cut to fewer bits"),
    (r"operand more", r"^(atom|red)\.", "a fourth operand without .L2::cache_hint, which the manual does not have"),
    (r"modifier missing", r"^(st\.async|testp|vote)", "an operation that is not named: the assembler takes some default"),
    (r"modifier moved", r"^tensormap", "it lets .b1024 and the type change places"),
    (r"operand (0f3F800000|1\.0)", r"^(fns|bmsk|movmatrix|tensormap|cvt\S*tf32|cvt\.pack|w?mma|cp|isspacep|redux|shfl|mbarrier|tcgen05|wgmma)", "a float where bits are wanted: the assembler takes it in some instructions and not in others"),
    (r"operand 1$", r"^tcgen05\.commit", "a number for 16 bits, which release 12 does not take"),
    (r"modifier missing", r"^tcgen05\.(ld|st)\b", r"missing \.aligned", "release 13 wants it, as the manual does"),
    (r"operand \{x, x\}", r"^mma\.sp|^cp\.async\.bulk\S*cp_mask|^mbarrier\S*noComplete|^txq\.level", "two registers in braces where one is wanted: the assembler does not look"),
    (r"operand more", r"^createpolicy", "a fraction in a register"),
    (r"operand \{x, x\}", r"^(add|sub|fma|setp?)\S*bf16|^tex\.level", r"is not a vector", "two registers in braces where one is wanted: release 12 of the assembler does not look"),
    (r"operand (1|1\.0|0f3F800000)$", r"^sust", r"must be a vector", "one number for several: the assembler does not look"),
    (r"operand x\+4", r"^createpolicy", r"<builtin>", "a sum that release 12 of the assembler copies into code of its own, which it then cannot read"),
    (r"modifier missing|operand more", r"^(tex|tld4)", r"operand e must be a vector|operand f is an integer", "one number as the offsets of several coordinates: the assembler does not look"),
    (r"operand 1$", r"^cp\.(reduce\.)?async\.bulk", r"must be an address in brackets", "a number as the mbarrier: the assembler does not look"),
    (r"modifier missing|operand \{x, x\}", r"^(suld|sust)", r"vector of 2, want 1", "two registers without .v2: the assembler does not look"),
    (r"operand more", r"^tcgen05\.mma", r"operand f must be a vector", "a number or a predicate for the lanes that are left out: the assembler does not look"),
    (r"operand x\+4", r"^(mma\.sp|tcgen05\.mma)\.", r"<builtin>", "a sum that the assembler copies into code of its own, which it then cannot read; with .sp::ordered_metadata it takes it"),
    (r"", r"", r"requires PTX ISA", "newer than the module's .version, to which it is not held"),
]

# Instructions of --forms that only one of them accepts, in the same form.
FORMS = [
    (r"register \.[bsu](8|16)", r".", r"cannot hold an address", "an address of 8 or 16 bits, where the manual has 32 or 64: the assembler warns, and with optimisation fails with an internal error on some"),
    (r"register \.(f|b128)", r"^(fence|(cp|cp\.reduce|applypriority)\.async\.bulk\S*tensor|fabric\S*tensor|tcgen05)", r"cannot hold an address", "an address in a register of floats or of 128 bits: the assembler does not look"),
    (r"register", r"^((mov|not|and|or|xor)\.pred|bar\.red|barrier\S*\.red|vote\.sync)", r"\.f16x2, want \.(pred|u32)", "a predicate or a number of threads in a register of .f16x2: the assembler does not look"),
    (r"register", r"^(ldmatrix|movmatrix|cvt\S*bf16x2)|^cvt\S*e2m1x2\.bf16x2", r"\.pred, want \.b32", "numbers in a predicate: the assembler does not look"),
    (r"register", r"^cvt\S*e2m1x2\.bf16x2", "halves in a register of another type, which the assembler takes for this conversion alone"),
    (r"register \.[bsu](64|128)", r"^cvt\S*(f16x2|pack)", "a register wider than the packed numbers, where the manual has .b32 and .f16x2"),
    (r"", r"^cvta\S*\.u32", "an address of 32 bits, which the assembler no longer compiles"),
    (r"", r"^st\.bulk\S* \[s\]", "a variable as the destination: the assembler fails with an internal error"),
    (r"", r"^(ld|st)\.\S*v8\.[bus](8|16)\b", "eight elements of less than 32 bits: the assembler does not look, and crashes on some"),
    (r"\.s(32|64) for", r"^(mapa|getctarank|setmaxnreg)", "a signed type where the manual has unsigned ones: the assembler does not look"),
    (r"more|for", r"^(fence|tensormap|tcgen05)", "a modifier of others, which the assembler ignores"),
    (r"\.(gpu|cta|cluster|sys) more", r"^mbarrier\.check_layout", "a scope of others, which the assembler ignores"),
    (r"\.uni more", r"^(tex|tld4)\.", "a hint that no manual has for textures: the assembler ignores it, in any place"),
    (r"\.v[248] more", r"^wmma\.", "a length, which the assembler only compares with the number of registers"),
    (r"register \.[us]64", r"^wmma\S*f64", r"want \.f64", "doubles in registers of integers, which the assembler takes for sums alone"),
    (r"no \.aligned", r"^wgmma\.mma_async\S*\.b1", "the assembler does not miss it for bits alone; the manual does"),
    (r"register \.f16", r"^cvt\S*s2f6x2", r"want \.b16", "two numbers in a register of a half: the assembler does not look"),
    (r"register \.f16x2", r"^cvt\S*\.bf16x2$|^cvt\S*\.bf16x2 ", r"want \.b32", "halves of another format: the assembler does not look"),
    (r"register \.f16x2", r"^vsh[lr]\.", r"want \.u32", "halves as the number of bits: the assembler does not look"),
    (r"register \.[bus]32", r"^ld\S*proxy::readonly", r"32-Bit ABI", "an address of 32 bits, at which the assembler ends"),
    (r"more|for", r"^st\.async", "a modifier that is missing, which the assembler does not miss"),
    (r"no \.aligned", r"^tcgen05\.(ld|st)\b", "release 13 wants it, as the manual does"),
    (r"no \.", r"^(testp|vote)", "an operation that is not named: the assembler takes some default"),
    (r"\.ftz more|\.r[nzmp] for", r"^rcp\S*f64", "a modifier that the assembler ignores"),
    (r"noftz|\.f32 for", r"^(atom|red)\.", "additions of .f32 that keep subnormal numbers, newer than the table"),
    (r"for", r"^cvt\.rz\.satfinite\S*[23]x2", r"not allowed", "rounding to zero for sm_107, newer than the table"),
    (r"", r"^(ld|st)\.volatile\.local", r"cannot be applied to '\.local'", "local memory is volatile from release 13 of the assembler on"),
    (r"", r"^(ld\.mmio\.acquire|st\.mmio\.release)", r"requires modifier '\.relaxed'", "orders that .mmio has from release 13 on"),
    (r"", r"^membar\.proxy\.async", r"Illegal modifier '\.async'", "a proxy that membar has from release 13 on"),
    (r"", r"^mma\S*mxf4nvf4\S*scale_vec::4X\S*ue8m0", r"Unexpected|Illegal|not supported|mismatch", "scales that release 13 brings"),
    (r"register", r"^multimem", r"32-Bit ABI|instruction 'mov'", "an address of 32 bits, at which the assembler ends"),
    (r"register \.f16x2", r"^mma\S*(bf16|tf32)", r"for \.(bf16x2|tf32) want", "halves for .bf16 and .tf32, which release 13 refuses"),
    (r"register \.[bus]32", r"^(fabric\S*tensor|tensormap\.query)", r"Arguments mismatch for instruction 'mov'|not supported on \.target", "an address of 32 bits, which the assembler copies into a register of 64"),
    (r"register \.u16", r"^fabric\S*tensor", r"Vector is not expected|not supported on \.target", "an extent in .u16, which the assembler takes in .s16, .b16 and .u8"),
    (r"\.acc::f", r"^fabric", r"not allowed", "a precision, which the manual has for fabric.try_pullred: the assembler does not look"),
    (r"\.acc::f", r"^multimem\.(red|st)", r"not allowed", "a precision, which the manual has for multimem.ld_reduce: the assembler does not look"),
    (r"register \.([us]32|f32|f16x2)", r"^mma\.sp", r"want (\.f32|an untyped)", "sparse matrices in registers of another type: the assembler does not look"),
    (r"register \.f", r"^fns", r"want \.s32", "a float as the offset, which the manual has as .s32: the assembler does not look"),
    (r"register \.f16x2", r"^slct", r"want \.s32", "halves as the number that selects: the assembler does not look"),
    (r"register \.[usb]32", r"^st\.bulk", r"mismatch", "a size of 32 bits, which release 13 brings"),
    (r"register \.[us](32|64)", r"^mov\.v2\.f", r"want \.f", "integers moved as floats: the assembler does not look"),
    (r"register", r"^prefetch", r"32-Bit ABI", "an address of 32 bits, at which the assembler ends"),
    (r"\.base for", r"^tex\.base", r"operand e must be a vector", "one number as the offsets of several coordinates: the assembler does not look"),
    (r"register", r"^set\S*bf16x2", r"for \.bf16x2 want", "registers for .bf16x2 that release 12 does not look at"),
    (r"register \.pred", r"^mma\S*block_scale", r"\.pred, want \.b32", "scales in a predicate, which release 13 refuses"),
    (r"register \.[us]16", r"^setp?\S*\.bf16", r"want \.bf16", "an integer for .bf16, which release 13 refuses"),
    (r"register \.f16", r"^setp\S*\.bf16", r"want \.bf16", "a register of .f16, which release 13 takes for this instruction alone"),
    (r"register \.f32", r"^tensormap\S*b32", r"instruction 'sub'", "a float as an extent, which release 12 subtracts 1 from and then refuses"),
    (r"register \.b128", r"^cvt\S*f16\.f32", r"want \.f32", "a float in a register of 128 bits: the assembler does not look"),
    (r"register \.s16", r"^cvt\S*s2f6x2", r"want \.b16", "a signed register for two numbers: the assembler does not look"),
    (r"register", r"^cvt\S*ue8m0x2", r"want \.b32", "pairs in a register of another type, which release 13 refuses"),
    (r"for", r"^cvt\S*e[23]m[23]x2\.b?f16x2", r"Unexpected instruction types", "a conversion of pairs that release 13 brings"),
    (r"\.[su]8x4 for", r"", r"Unknown modifier", "four numbers of eight bits, which release 13 brings"),
    (r"\.mbarrier::report\S* (more|for)", r"^cp\.async\.bulk", r"Unknown modifier", "reports of bad data, which release 13 brings"),
    (r"register \.pred", r"^mma\S*kind::f8f6f4", r"\.pred, want", "numbers in a predicate, which release 13 refuses"),
    (r"\.param for", r"^st\.param", r"Illegal to write to function input parameter", "a kernel's own parameter: a trap here, where it is written"),
    (r"register \.f16x2", r"^cvt\.pack\S*\.b32", r"\.f16x2, want", "packed numbers in a register of halves: the assembler does not look"),
    (r"register \.[us]32", r"^tex\.grad\.(3d|a?cube)", r"mismatch|different types", "integers as coordinates, which the assembler does not copy"),
]

# Messages about modules of --modules that only one of them accepts, and the reason for the
# difference.
MODULES = [
    (r"unexpected \";\", want a name", "a declaration of nothing"),
    (r"a float initialises", "a float where an integer is wanted: see docs/design/ptx.md"),
    (r"cannot hold an address", "an address in 16 bits"),
    (r"Invalid initial value|Unknown symbol|Undefined|not declared|Undefined reference", "a name that is declared behind its use: gemu reads the whole module first"),
]


class Judge:
    """Reports texts that only one of the two accepts, from pairs of messages of the assembler and
    gemu."""

    def __init__(self, excuses):
        self.excuses = {e: 0 for e in excuses}  # how often each was needed

    def side(self, message, error, *what):
        """The side that accepts it: "" if both or neither do, if the assembler crashes, or if an
        excuse has matching patterns."""
        if message is None or bool(message) == bool(error):
            return ""
        for e in self.excuses:
            if all(re.search(pattern, w) for pattern, w in zip(e[:-1], what)):
                self.excuses[e] += 1
                return ""
        return "taken here, refused by the assembler" if message else "refused here, taken by the assembler"

    def known(self, complete):
        """The part of the summary about known differences; for a complete run with stale entries."""
        stale = [e for e, n in self.excuses.items() if n == 0] if complete else []
        return f"{sum(self.excuses.values())} known ones" + "".join(f"\nnot needed: {e}" for e in stale)


class Progress:
    """Prints a line to stderr when a comparison leaves a mnemonic, for a full one takes hours."""

    def __init__(self, unit):
        self.unit, self.mnemonic = unit, None

    def count(self, text, differs):
        """Counts an instruction that was compared."""
        mnemonic = re.match(r"[\w:]*", text)[0]
        if mnemonic != self.mnemonic:
            self.end()
            self.mnemonic, self.compared, self.differences = mnemonic, 0, 0
        self.compared += 1
        self.differences += differs

    def end(self):
        """Prints the line of the present mnemonic, if any."""
        if self.mnemonic is not None:
            print(f"{self.mnemonic}: {self.compared} {self.unit}, {self.differences} differences", file=sys.stderr, flush=True)
        self.mnemonic = None


def run_ptxas(ptxas, arch, file):
    """Its exit status and messages; a negative status if it crashes, or runs without end, which
    also takes memory without end."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    try:
        run = subprocess.run([ptxas, "-O0", "-arch=" + arch, "-o", os.devnull, file], capture_output=True, text=True, timeout=20, preexec_fn=limit)
    except subprocess.TimeoutExpired:
        return -1, ""
    output = (run.stdout + run.stderr).replace(file, "line")
    return (-1 if "Memory allocation failure" in output else run.returncode), output


# The target that replaces targets too old for the assembler: the first one that it knows.
OLDEST = ["sm_50", "sm_75"]


def assemble(ptxas, text):
    """The messages of the assembler; none if it takes the text, None if it crashes."""
    target = re.search(r"^\s*\.target\s+(sm_\d+\w*)", text, re.M)
    arch = target.group(1) if target else "sm_80"
    for oldest in "", *OLDEST:
        for attempt in range(3):  # it crashes at random, on some texts
            with tempfile.NamedTemporaryFile("w", suffix=".ptx", encoding="ascii", errors="replace") as f:
                f.write(text + "\n" * attempt)
                f.flush()
                code, output = run_ptxas(ptxas, oldest or arch, f.name)
            if code >= 0:
                break
        else:
            return None
        if "is not defined for option 'gpu-name'" not in output:
            break
    if code == 0:
        return ""
    errors = [line for line in output.splitlines() if "error" in line or "fatal" in line]
    return "\n".join(errors or output.splitlines() or ["fails without a message"])


def read(file):
    with open(file, encoding="utf-8", errors="replace") as f:
        return f.read()


def compare_files(ptxas, pool):
    """Lines that say where cases differ, and a summary."""
    good, bad, left, known, differences = [], [], 0, 0, []
    for pattern in "testdata/insn/*.ptx", "testdata/control/*.ptx", "testdata/nvcc/*.ptx", "testdata/corpus/*.ptx", "testdata/good/*.ptx", "kernels/cuda/*.ptx", "docs/*.ptx":
        good += sorted(glob.glob(pattern))
    for file in sorted(glob.glob("testdata/bad/*.ptx")):
        lines = read(file).split("\n")
        errors = [i for i, line in enumerate(lines) if "// ERROR" in line]
        for e in errors:
            bad.append((file, e, lines[e], "\n".join(line for i, line in enumerate(lines) if i == e or i not in errors)))
    taken = pool.map(lambda file: assemble(ptxas, read(file)), good)
    refused = pool.map(lambda case: assemble(ptxas, case[3]), bad)
    for file, message in zip(good, taken):
        if message is None or re.search(r"Unsupported \.version|32-Bit compilation is no longer supported|SM version specified by .target", message):
            left += 1
        elif message and file in TAKEN:
            known += 1
        elif message:
            differences.append(f"{file}: does not assemble: {message.splitlines()[0]}")
    for (file, i, line, _), message in zip(bad, refused):
        if message == "" and any(re.search(pattern, line) for pattern in REFUSED):
            known += 1
        elif message == "":
            differences.append(f"{file}:{i + 1}: assembles: {line.strip()}")
    return differences, f"{len(good)} files, {len(bad)} bad lines: {len(differences)} differences, {known} known ones; {left} files left out: 32-bit addresses, newer than the assembler, or it crashes"


# Targets of --forms, with .version if it is not the newest, in the order of the attempts: an
# instruction is accepted if one target accepts it. An instruction that is rejected for a reason
# other than the target is not tried on further targets: of 1853 that sm_100a rejects, the 331 that
# another target accepts all have a message with one of TARGETED. A message about 'mov' is about
# code of the assembler's own, which it has for some targets.
TARGETS = [("sm_100a", ""), ("sm_120a", ""), ("sm_90a", ""), ("sm_103a", ""), ("sm_101a", ""), ("sm_110a", ""), ("sm_107a", ""), ("sm_75", "6.3")]
TARGETED = re.compile(r"not supported|Illegal modifier '\.collector::b|PTX ISA|\.target|sm_|Internal compiler error|instruction 'mov'|warning|fails without a message")

PROLOGUE = """.version {version}
.target {target}
.address_size 64
.global .align 32 .b8 g[64];
.const .align 32 .b8 c[64];
.shared .align 32 .b8 s[64];
.func f() {{ ret; }}
"""
KERNEL = ".entry e{i}(.param .align 16 .b8 p[64]) {{ .local .align 16 .b8 l[64]; {decls}\n{text};\nend: ret; }}\n"


def targets_of(ptxas):
    """Those of TARGETS that the assembler knows, with versions."""
    message = assemble(ptxas, ".version 99.9\n.target sm_100\n")
    arches = subprocess.run([ptxas, "--help"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"current version is '(.*?)'", message).group(1)
    return [(target, old or version) for target, old in TARGETS if f"'{target}'" in arches]


def assemble_all(ptxas, version, target, list, arch=None):
    """What the assembler says of each of a list of (declarations, instruction), as assemble."""
    said = {}
    left = [range(0, len(list))]
    while left:
        some = [i for i in left.pop() if i not in said]
        if not some:
            continue
        text = PROLOGUE.format(version=version, target=target)
        first = text.count("\n") + 1
        text += "".join(KERNEL.format(i=i, decls=list[i][0], text=list[i][1]) for i in some)
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
            f.write(text)
            f.flush()
            code, output = run_ptxas(ptxas, arch or target, f.name)
        if code == 0:
            said.update((i, "") for i in some)
            continue
        found = {}  # names a line of the file, not of <builtin>
        for n, message in re.findall(r"line, line (\d+); (?:error|fatal) *: (.*)", output):
            at = (int(n) - first) // 3
            if 0 <= at < len(some):
                found.setdefault(some[at], message)
        if found and code > 0:
            said.update(found)
            left.append([i for i in some if i not in found])
        elif len(some) == 1:
            said[some[0]] = (output.strip() or "fails without a message") if code > 0 else None
        else:
            left += [some[: len(some) // 2], some[len(some) // 2 :]]
    return [said[i] for i in range(len(list))]


def told(found):
    """Lines with the findings, by side, kind of change and mnemonic, and their number; all of it
    goes to the file that $DIFFERENCES names."""
    if log := os.environ.get("DIFFERENCES"):
        with open(log, "w") as f:
            json.dump([[*key, list] for key, list in sorted(found.items())], f, indent=1)
    lines = [f"{op}, {kind}, {side}, {len(list)} times: {list[0]}" for (side, kind, op), list in sorted(found.items())]
    return lines, sum(map(len, found.values()))


def verdicts_on(ptxas, pool, mutants):
    """The assembler's messages about each of a list of mutants, whose modules differ in a kernel:
    all mutants of a target are assembled together."""
    arches = subprocess.run([ptxas, "--help"], capture_output=True, text=True, check=True).stdout
    said, together = [None] * len(mutants), collections.defaultdict(list)
    for i, m in enumerate(mutants):
        version, target = re.match(r"\.version (\S+)\n\.target (\S+)\n", m["Src"]).groups()
        together[version, target].append(i)
    jobs = []
    for (version, target), of in together.items():
        arch = next(a for a in (target, *OLDEST) if f"'{a}'" in arches)
        for some in (of[n : n + 500] for n in range(0, len(of), 500)):
            jobs.append((some, pool.submit(assemble_all, ptxas, version, target, [(mutants[i]["Decls"], mutants[i]["Text"]) for i in some], arch)))
    asked = 0
    for some, job in jobs:
        for i, message in zip(some, job.result()):
            said[i] = message
        asked += len(some)
        first, last = (mutants[i]["Text"].split(".")[0] for i in (some[0], some[-1]))
        print(f"{first} to {last}: {asked} of {len(mutants)} mutants", file=sys.stderr, flush=True)
    return said


def strange_sum(m):
    """Whether a mutant adds a constant to a register that is no integer of 16 to 64 bits. The
    manual has no such operand; the assembler accepts it, then fails to compile it, or runs without
    end."""
    x = re.search(r"(%x\d+)\+4", m["Text"])
    return x and m["Kind"] == "operand x+4" and re.search(r"\.(pred|f\d\S*|[bsu]8|b128) " + x[1] + ";", m["Decls"])


def compare_mutants(ptxas, pool, args):
    """Lines that say where mutants differ, and a summary."""
    size = int(args.pop(0)) if args and args[0].isdigit() else None
    run = subprocess.run(["go", "run", "-C", "tools", "./assembler/mutants"] + args, capture_output=True, text=True, check=True)
    mutants = [json.loads(line) for line in run.stdout.splitlines()]
    bases = [m for m in mutants if m["Kind"] == ""]
    sound = {m["Base"] for m, message in zip(bases, verdicts_on(ptxas, pool, bases)) if message == ""}
    changed = [m for m in mutants if m["Kind"] and m["Base"] in sound and not strange_sum(m)]
    if size is not None and size < len(changed):
        changed = random.sample(changed, size)
    found, judge = collections.defaultdict(list), Judge(MUTANTS)
    for m, message in zip(changed, verdicts_on(ptxas, pool, changed)):
        if side := judge.side(message, m["Error"], m["Kind"], m["Text"], message or m["Error"]):
            reason = message.splitlines()[0] if message else m["Error"]
            found[side, m["Kind"], m["Text"].split(".")[0]].append(f"{m['Text']}: {reason}")
    differences, n = told(found)
    return differences, f"{len(changed)} mutants of {len(sound)} opcodes: {n} differences; {len(bases) - len(sound)} opcodes left out: refused by the assembler as they are; {judge.known(size is None and not args)}"


def compare_forms(ptxas, pool, args):
    """Lines that say where instructions differ, and a summary. Forms that are newer than the assembler
    are left out."""
    targets = targets_of(ptxas)
    number = lambda version: [int(n) for n in version.split(".")]
    newest = number(targets[0][1])
    run = subprocess.Popen(["go", "run", "-C", "tools", "./assembler/mutants", "-forms"] + args, stdout=subprocess.PIPE, text=True)
    size, judge = 0, Judge(FORMS)
    found = collections.defaultdict(list)

    told_of = Progress("instructions")

    def verdicts(batch):
        said = [None] * len(batch)
        for target, version in targets:
            open_ = [i for i in range(len(batch)) if said[i] is None or TARGETED.search(said[i])]
            for i, message in zip(open_, assemble_all(ptxas, version, target, [(batch[i]["Decls"], batch[i]["Text"]) for i in open_])):
                if message == "" or said[i] is None:
                    said[i] = message
        return batch, said

    def batches():
        batch = []
        for line in run.stdout:
            if number((m := json.loads(line))["PTX"]) <= newest:
                batch.append(m)
            if len(batch) == 500:
                yield batch
                batch = []
        yield batch

    waiting = collections.deque()
    for batch in itertools.chain(batches(), [None] * 4):
        if batch is not None:
            waiting.append(pool.submit(verdicts, batch))
            size += len(batch)
        while waiting and (batch is None or len(waiting) > 4):
            for m, message in zip(*waiting.popleft().result()):
                if side := judge.side(message, m["Error"], m["Kind"], m["Text"], message or m["Error"]):
                    found[side, m["Kind"], m["Text"].split(".")[0]].append(f"{m['Text']} ({m['Decls']}): {message or m['Error']}")
                told_of.count(m["Text"], bool(side))
    told_of.end()
    if run.wait():
        sys.exit("mutants failed")
    differences, n = told(found)
    return differences, f"{size} instructions: {n} differences; {judge.known(not args)}"


# Instructions of --list that only one of them accepts: the instruction, the message of the refusal,
# and the reason for the difference.
LISTED = [
]


def listed(files):
    """(lowest version, target, instruction) of the lines of files. "<a|b|>" stands for each text
    between its bars."""
    for file in files or sorted(glob.glob("tools/assembler/forms-*.txt")):
        for line in read(file).splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            version, target, text = (part.strip() for part in line.split("|", 2))
            slots = [part.split("|") for part in re.findall(r"<([^<>]*\|[^<>]*)>", text)]
            rest = re.split(r"<[^<>]*\|[^<>]*>", text)
            for chosen in itertools.product(*slots):
                yield version, target, "".join(a + b for a, b in itertools.zip_longest(rest, chosen, fillvalue="")).rstrip(";")


# The registers of the lists.
LIST_DECLS = ".reg .pred %p<8>; .reg .b8 %c<8>; .reg .b16 %h<16>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<16>; .reg .f64 %fd<16>; .reg .b128 %q<8>;"


def compare_list(ptxas, pool, args):
    """Lines with the differences in listed instructions, and a summary. The assembler is asked for
    the target of the list and its newest .version: it does not hold modifiers to an older one.
    Instructions that are newer than the assembler are left out."""
    version = targets_of(ptxas)[0][1]
    number = lambda version: [int(n) for n in version.split(".")]
    every = list(dict.fromkeys(listed(args)))
    lines = [line for line in every if number(line[0]) <= number(version)]
    together = collections.defaultdict(list)
    for i, (_, target, _) in enumerate(lines):
        together[target].append(i)
    said = [None] * len(lines)
    for target, of in together.items():
        for i, message in zip(of, assemble_all(ptxas, version, target, [(LIST_DECLS, lines[i][2]) for i in of])):
            said[i] = message
    asked = "".join(json.dumps({"Decls": LIST_DECLS + " .shared .align 32 .b8 s[64];", "Text": text + ";"}) + "\n" for _, _, text in lines)
    answer = subprocess.run(["go", "run", "-C", "tools", "./assembler/mutants", "-list"], input=asked, capture_output=True, text=True, check=True).stdout
    found, judge, not_run = collections.defaultdict(list), Judge(LISTED), 0
    both = 0
    for (lowest, target, text), message, v in zip(lines, said, map(json.loads, answer.splitlines())):
        name = text.split(".")[0]
        if side := judge.side(message, v["Error"], text, message or v["Error"]):
            found[side, "listed", name].append(f"{text}: {message or v['Error']}")
        elif message and v["Error"]:
            both += 1
        elif message == "" and v["NotRun"]:
            not_run += 1
        elif message == "" and not v["Error"] and (number(v["PTX"]) > number(lowest) or v["SM"] > int(re.search(r"\d+", target)[0])):
            found["the table wants more", "listed", name].append(f"{text}: .version {v['PTX']}, sm_{v['SM']}; the list has {lowest}, {target}")
    differences, n = told(found)
    return differences, f"{len(lines)} instructions: {n} differences; {judge.known(not args)}; {not_run} that gemu says by name it does not run; {both} that both refuse; {len(every) - len(lines)} left out: newer than the assembler"


# The texts in which --modules changes words: the module level, and the body of a function.
SEEDS = [
    (".global .align 8 .b8 x[16] = {1, 2, 3};", ""),
    (".visible .global .v4 .f32 x[2] = {{1.0, 2.0, 3.0, 4.0}, {5.0, 6.0, 7.0, 8.0}};", ""),
    (".global .u32 y[4]; .const .u64 x[2] = {y, y+4};", ""),
    (".global .b8 y; .global .u64 x = generic(y);", ""),
    (".global .b32 y; .global .u8 x[2] = {0xff(y), 0xff00(y)};", ""),
    (".extern .shared .align 16 .b8 x[];", "mov.u32 %r1, x;"),
    (".weak .global .u32 x = 5; .common .global .u32 y;", "mov.u64 %d1, x;"),
    (".global .f64 x = 0d3FF0000000000000, y = 1.5; .global .s32 z[2][3] = {{1, -2}, {0x10, 077, 0b11}};", ""),
    (".visible .const .align 4 .u16 x[] = {1, 2};", "ld.const.u16 %h1, [x+2];"),
    (".global .attribute(.managed) .b32 x;", ""),
    (".global .texref t; .global .surfref v;", ""),
    (".func (.reg .b32 r) f (.reg .b32 a, .reg .f32 b) { mov.b32 r, a; ret; }", "call (%r1), f, (%r2, %f1);"),
    (".func (.param .b32 r) f (.param .b64 a, .param .align 8 .b8 b[16]) { .reg .b32 %x; ld.param.u32 %x, [b+4]; st.param.b32 [r], %x; ret; }", "{ .param .b32 o; .param .b64 i; .param .align 8 .b8 j[16]; st.param.b64 [i], %d1; st.param.b32 [j+8], %r1; call.uni (o), f, (i, j); ld.param.b32 %r2, [o]; }"),
    (".visible .func (.param .b32 r) g (.param .b32 a); .visible .func (.param .b32 r) g (.param .b32 a) { ret; }", ""),
    (".visible .func h .noreturn { exit; }", "call h;"),
    (".func f (.param .b32 a) { ret; }", "{ .param .b32 i; st.param.b32 [i], 1; mov.u64 %d1, f; p: .callprototype _ (.param .b32 _); call %d1, (i), p; }"),
    (".func f () { ret; } .func g () { ret; }", "mov.u64 %d1, f; t: .calltargets f, g; call %d1, t;"),
    (".weak .func f (.param .b32 a, .param .b32 b[]) { ret; }", ""),
    ("", ".reg .pred %q, %q2<3>; .reg .v2 .f32 %v; .reg .b16 %y<4>, %z; setp.eq.u32 %q, %r1, %r2; @!%q bra next; mov.f32 %v.x, 1.0; next: ret;"),
    ("", "t: .branchtargets a, b; brx.idx %r1, t; a: add.u32 %r1, %r1, 1; b: ret;"),
    ("", ".local .align 8 .b8 l[32]; .shared .v2 .u64 s[4]; .param .b32 p; st.local.v2.u32 [l+8], {%r1, %r2}; ld.shared.u64 %d1, [s+16];"),
    ("", "{ .reg .b32 %r1; mov.u32 %r1, 7; { .reg .f32 %r1; mov.f32 %r1, 2.0; } } add.s32 %r1, %r1, 1;"),
    ("", ".pragma \"nounroll\"; loop: sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra.uni loop;"),
    (".pragma \"nounroll\";", ""),
    (".section .debug_str { f0: .b8 102,0 } .file 1 \"a.cu\" \n.file 2 \"b.h\", 1234, 56", ".loc 1 3 0 \nadd.u32 %r1, %r1, 1; .loc 2 5 7, function_name f0, inlined_at 1 3 0 \nret;"),
    (".section .debug_str { f0: .b8 102,0 }", ""),
    (".section .debug_info { .b32 20 .b8 2,0 .b32 .debug_abbrev .b64 here } .section .debug_abbrev { .b8 0 } .global .u32 here;", ""),
    (".visible .func f (.param .b32 a); .visible .func g (.param .b32 a) { ret; } .alias f, g;", ""),
    (".entry k (.param .u64 .ptr .global .align 16 a, .param .b8 b[12], .param .align 4 .b8 c[8]) .maxntid 128, 1, 1 .minnctapersm 2 { ret; }", ""),
    (".visible .entry k .reqntid 32 .maxnreg 40 .pragma \"x\"; { ret; }", ""),
    (".entry k () .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }", ""),
    (".entry k .maxclusterrank 8 .maxntid 64, 2 { exit; }", ""),
    (".entry k .blocksareclusters .reqntid 64 .reqnctapercluster 2 { exit; }", ""),
    (".weak .entry k (.param .f32 a, .param .texref t, .param .f32 v[2]) { ret; }", ""),
    ("", "mov.b64 {%r1, %r2}, %d1; mov.b32 %r1, {%h1, %h2}; ld.global.v2.u32 {%r1, _}, [%d1+-8]; mov.u32 %r3, %tid.x; mov.u64 %d2, %clock64;"),
    ("", "add.s32 %r1, -5, 3+4*2; mov.f32 %f1, 0f3F800000; mov.b32 %r1, (1<<4)|3; mov.u32 %r2, WARP_SZ; mov.s32 %r3, !0 ? ~5 : 07; mov.u64 %d1, 0xFFFFFFFFFFFFFFFFU;"),
]

# Groups of words that are replaced by each other.
KINDS = [
    ".b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .bf16 .f32 .f64 .pred .texref .v2 .v4 .v8".split(),
    ".const .global .local .param .reg .shared .tex .ptr .align".split(),
    ".visible .extern .weak .common .entry .func .alias .global".split(),
    ".maxntid .reqntid .maxnreg .minnctapersm .maxnctapersm .reqnctapercluster .maxclusterrank .explicitcluster .blocksareclusters .noreturn .pragma .abi_preserve".split(),
    ".callprototype .calltargets .branchtargets .loc .file .section .pragma .attribute .managed".split(),
    "0 1 2 3 4 5 7 8 12 16 0x10 1.0 0f3F800000 1048576 4294967296 -1".split(),
    "[ ] { } ( ) , ; : + - = < > @ ! []".split(),
]
WORDS = sum(KINDS, ["x", "y", "f", "k", "_", "%", "ret", "exit", "bra", "call", '"x"', ".uni"])

BODY = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .f32 %f<4>; .reg .f64 %fd<4>;"


def changed(random, text):
    """The text with a word changed, and how."""
    words = re.findall(r'"[^"]*"|[.%\w$:]*\w|\n|[^\s\w]', text)
    i = random.randrange(len(words))
    kind = random.choice(["dropped", "doubled", "exchanged", "exchanged", "exchanged", "moved", "inserted"])
    was = words[i]
    if kind == "dropped":
        del words[i]
    elif kind == "doubled":
        words.insert(i, was)
    elif kind == "exchanged":
        alike = [k for k in KINDS if was in k] or [[w for w in words if w[0].isalpha() == was[0].isalpha()]]
        words[i] = random.choice(alike[0] if random.random() < 0.8 else WORDS)
    elif kind == "moved":
        words.insert(random.randrange(len(words)), words.pop(i))
    else:
        words.insert(i, random.choice(WORDS))
    return " ".join(words), f"{was} {kind}"


def compare_modules(ptxas, pool, args):
    """Lines that say where changed modules differ, and a summary."""
    size = int(args[0]) if args else 3000
    target, version = targets_of(ptxas)[0]
    made = {}
    chance = random.Random(1)
    while len(made) < size:
        outer, inner = SEEDS[len(made) % len(SEEDS)]
        kind = "as it is"
        for _ in range(chance.choice([1, 1, 1, 2]) if len(made) >= len(SEEDS) else 0):
            if inner and (not outer or chance.random() < 0.5):
                inner, kind = changed(chance, inner)
            else:
                outer, kind = changed(chance, outer)
        made[f".version {version}\n.target {target}\n.address_size 64\n{outer}\n.entry main_()\n{{ {BODY}\n{inner}\nret; }}\n"] = (kind, outer + " | " + inner)
    texts = list(made)
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, f"{i}.ptx") for i in range(len(texts))]
        for name, text in zip(names, texts):
            with open(name, "w") as f:
                f.write(text)
        loaded = subprocess.run(["go", "run", "-C", "tools", "./assembler/load"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    errors = [json.loads(line)["Error"] for line in loaded.splitlines()]
    differences, judge, refused = [], Judge(MODULES), 0
    for text, error, message in zip(texts, errors, pool.map(lambda t: assemble(ptxas, t), texts)):
        kind, what = made[text]
        refused += bool(error)
        reason = (message or error or " ").splitlines()[0]
        if side := judge.side(message, error, reason):
            differences.append(f"{side}, {kind}: {what}: {reason}")
    return differences, f"{len(texts)} modules, {len(texts) - refused} of them taken here: {len(differences)} differences; {judge.known(not args)}"


def main():
    modes = {"--mutants": compare_mutants, "--forms": compare_forms, "--list": compare_list, "--modules": compare_modules}
    if len(sys.argv) < 2 or len(sys.argv) > 2 and sys.argv[2] not in modes:
        sys.exit(__doc__)
    ptxas = os.path.abspath(sys.argv[1])
    if not os.access(ptxas, os.X_OK):
        sys.exit(f"{sys.argv[1]} is no program\n{__doc__}")
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("WORKERS", os.cpu_count()))) as pool:
        if len(sys.argv) > 2:
            differences, summary = modes[sys.argv[2]](ptxas, pool, sys.argv[3:])
        else:
            differences, summary = compare_files(ptxas, pool)
    print("\n".join(differences + [summary]))
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()
