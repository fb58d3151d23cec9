"""The C++ types of kernel parameters: from a declaration, from CUDA C++, or from the name that a compiler makes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Dict, List, Optional, Tuple

import numpy as np


@dataclass(frozen=True)
class CType:
    """The type of a parameter."""

    name: str  #: as in C, such as "const float *"
    dtype: Optional[np.dtype]  #: of the value, or of the elements of a pointer; None if NumPy has no such type
    pointer: bool = False
    constant: bool = False  #: a pointer to const
    parameter: str = ""  #: name of the parameter, if it is declared


_BASE: Dict[str, str] = {
    "bool": "?", "char": "i1", "signed char": "i1", "unsigned char": "u1", "short": "i2", "unsigned short": "u2",
    "int": "i4", "unsigned int": "u4", "long": "i8", "unsigned long": "u8", "long long": "i8", "unsigned long long": "u8",
    "float": "f4", "double": "f8", "half": "f2", "__half": "f2", "size_t": "u8", "ptrdiff_t": "i8", "uintptr_t": "u8", "intptr_t": "i8",
    "int8_t": "i1", "uint8_t": "u1", "int16_t": "i2", "uint16_t": "u2", "int32_t": "i4", "uint32_t": "u4", "int64_t": "i8", "uint64_t": "u8",
}  # fmt: skip

_MANGLED = {
    "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int",
    "l": "long", "m": "unsigned long", "x": "long long", "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip


def _plain(words: List[str]) -> str:
    """The usual name of a type, of which words has all words but its qualifiers."""
    words = [w for w in words if w not in ("struct",)]
    if words and all(w in ("signed", "unsigned", "char", "short", "int", "long") for w in words):
        unsigned = "unsigned" in words
        if "char" in words:
            return "unsigned char" if unsigned else "signed char" if "signed" in words else "char"
        size = "short" if "short" in words else "long long" if words.count("long") > 1 else "long" if "long" in words else "int"
        return "unsigned " + size if unsigned else size
    return " ".join(words)


def parse_type(text: str) -> Optional[CType]:
    """The type of a declaration in C, such as "const float *x"; None if it is not a plain type or a pointer to one."""
    text = re.sub(r"\b(__restrict__|__restrict|restrict|volatile|__grid_constant__)\b", " ", text)
    stars = text.count("*")
    if stars > 1 or re.search(r"[<>&\[\](){}:]", text):
        return None
    before, _, after = text.partition("*")
    name_after = re.findall(r"[A-Za-z_]\w*", after)
    words = re.findall(r"[A-Za-z_]\w*", before)
    constant = "const" in words
    words = [w for w in words if w != "const"]
    for end in (len(words), len(words) - 1):  # the last word may be the name of the parameter
        name = _plain(words[:end])
        if name in _BASE or name == "void" and stars:
            dtype = None if name == "void" else np.dtype(_BASE[name])
            shown = ("const " if constant and stars else "") + name + (" *" if stars else "")
            left = [w for w in name_after if w != "const"] if stars else words[end:]
            return CType(shown, dtype, bool(stars), constant and bool(stars), left[0] if left else "")
        if stars:
            break
    return None


def parse_declaration(text: str) -> List[Optional[CType]]:
    """The types of the parameters in a declaration, such as "int n, const float *x"."""
    text = text.strip()
    if text in ("", "void"):
        return []
    depth, parts = 0, [""]
    for c in text:
        depth += (c in "(<[{") - (c in ")>]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [parse_type(p) for p in parts]


def demangle(name: str) -> Tuple[str, Optional[List[Optional[CType]]]]:
    """The name of a function in C++ without scopes, and the types of its parameters, from the name that a compiler has made
    of them; the types are None if the name has none, or types that are not plain."""
    m = re.match(r"_Z(N?)", name)
    if not m:
        return name, None
    rest, nested, base = name[m.end() :], bool(m.group(1)), ""
    while True:
        n = re.match(r"\d+", rest)
        if not n:
            break
        length = int(n.group())
        rest = rest[n.end() :]
        base, rest = rest[:length], rest[length:]
        if not nested:
            break
    if not base:
        return name, None
    if nested:
        if not rest.startswith("E"):
            return base, None
        rest = rest[1:]
    types: List[Optional[CType]] = []
    known: List[str] = []  # substitutions
    while rest:
        if rest == "v" and not types:
            return base, []
        t = re.match(r"(P?)(r?)(V?)(K?)([a-z])", rest)
        s = re.match(r"S(\d*)_", rest)
        if s:  # an earlier pointer, or the type to which it points
            index = 0 if s.group(1) == "" else int(s.group(1)) + 1
            if index >= len(known):
                return base, None
            types.append(parse_type(known[index]))
            rest = rest[s.end() :]
            continue
        if not t or t.group(5) not in _MANGLED or (t.group(4) and not t.group(1)):
            return base, None
        pointer, constant, plain = bool(t.group(1)), bool(t.group(4)), _MANGLED[t.group(5)]
        text = ("const " if constant else "") + plain + (" *" if pointer else "")
        if constant or t.group(3):
            known.append(("const " if constant else "") + plain)
        if pointer:
            known.append(text)
        types.append(parse_type(text))
        rest = rest[t.end() :]
    return base, types


def declarations(source: str) -> Dict[str, List[Optional[CType]]]:
    """The types of the parameters of the kernels in a text of CUDA C++, by the kernels' names. Templates and overloads are
    left out."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.S)
    text = re.sub(r"__launch_bounds__\s*\([^()]*\)", " ", text)
    found: Dict[str, List[Optional[CType]]] = {}
    repeated = set()
    for m in re.finditer(r"(template\s*<[^{};]*)?__global__[^(){};]*?\b(\w+)\s*\(([^()]*)\)\s*\{", text):
        if m.group(2) in found or m.group(1):
            repeated.add(m.group(2))
        found[m.group(2)] = parse_declaration(m.group(3))
    return {name: types for name, types in found.items() if name not in repeated}
