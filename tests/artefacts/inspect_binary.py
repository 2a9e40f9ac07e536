"""Inspects an artefact: ``inspect_binary.py ARCHIVE ENTRY FOLDER...``.

Fails if the contents of a file in the archive include the name of one of the folders, or if a wheel has no bill of
materials. Also fails if the library or
program is not stripped, lacks the entry point, or needs a newer glibc than 2.17. A program's entry point is ``main``,
which does not have to be exported. For an archive without a library or program, pass an empty entry point.
"""

from __future__ import annotations

import io
import struct
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pefile
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection
from elftools.elf.sections import Section

BINARY_SUFFIXES = (".so", ".pyd", ".node", "/polyflake", ".exe")
NEWEST_GLIBC = (2, 17)


def members(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            yield from ((name, wheel.read(name)) for name in wheel.namelist())
        return
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                yield member.name, file.read()


def inspect_elf(data: bytes) -> tuple[set[str], list[str]]:
    """Returns the names of the symbols that an ELF file exports, and the problems found in the file."""
    elf = ELFFile(io.BytesIO(data))
    sections = {section.name: section for section in elf.iter_sections()}
    faults = [f"has the section {name}" for name in sections if name == ".symtab" or name.startswith(".debug")]
    for section in sections.values():
        if isinstance(section, GNUVerNeedSection):
            required_versions = [version.name for _, versions in section.iter_versions() for version in versions]
            faults += [f"needs {name}" for name in required_versions if is_too_new(name)]
        # A Python module must use the system library for stack unwinding. Node addons and Python modules for musl do
        # not need that library.
        if isinstance(section, DynamicSection) and "libc.so.6" in needed_libraries(section) and is_py_module(sections):
            faults += [] if "libgcc_s.so.1" in needed_libraries(section) else ["has an unwinder of its own"]
    # A statically linked program has no dynamic symbol table.
    symbols = sections[".dynsym"].iter_symbols() if ".dynsym" in sections else ()
    return {symbol.name for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF"}, faults


def needed_libraries(section: DynamicSection) -> list[str]:
    return [tag.needed for tag in section.iter_tags() if tag.entry.d_tag == "DT_NEEDED"]


def is_py_module(sections: dict[str, Section]) -> bool:
    return any(symbol.name.startswith("PyInit_") for symbol in sections[".dynsym"].iter_symbols())


def is_too_new(version: str) -> bool:
    numbers = version.removeprefix("GLIBC_").split(".")
    return version.startswith("GLIBC_") and tuple(map(int, numbers[:2])) > NEWEST_GLIBC


def inspect_pe(data: bytes) -> tuple[set[str], list[str]]:
    pe = pefile.PE(data=data)
    faults = [] if pe.FILE_HEADER.NumberOfSymbols == 0 else ["has a table of symbols"]
    names = [section.Name.rstrip(b"\0").decode() for section in pe.sections]
    faults += [f"has the section {name}" for name in names if name.startswith(".debug")]
    export_directory = getattr(pe, "DIRECTORY_ENTRY_EXPORT", None)
    return {
        symbol.name.decode() for symbol in export_directory.symbols if symbol.name
    } if export_directory else set(), faults


def inspect_macho(data: bytes) -> tuple[set[str], list[str]]:
    """Returns the names of the symbols that a 64-bit Mach-O file exports, and the problems found in the file."""
    symtab, segment, external, debug, defined = 0x2, 0x19, 0x01, 0xE0, 0x0E
    _, _, _, _, commands = struct.unpack_from("<5I", data)
    at, names, faults = 32, set(), []
    for _ in range(commands):
        command, size = struct.unpack_from("<2I", data, at)
        if command == segment and data[at + 8 : at + 24].startswith(b"__DWARF"):
            faults.append("has debug information")
        if command == symtab:
            symbols, count, strings, _ = struct.unpack_from("<4I", data, at + 8)
            for index in range(count):
                name, kind = struct.unpack_from("<IB", data, symbols + 16 * index)
                text = data[strings + name : data.index(b"\0", strings + name)].decode()
                if kind & debug:
                    faults.append(f"has the debug symbol {text}")
                elif kind & external and kind & defined:
                    names.add(text.removeprefix("_"))
        at += size
    return names, faults


INSPECTORS = {b"\x7fELF": inspect_elf, b"MZ\x90\x00": inspect_pe, b"\xcf\xfa\xed\xfe": inspect_macho}


def find_faults(path: Path, entry: str, folders: list[str]) -> list[str]:
    faults, binaries, bills = [], 0, 0
    for name, data in members(path):
        bills += ".dist-info/sboms/" in name
        faults += [f"{name} names {folder}" for folder in folders if folder.encode() in data]
        if not name.endswith(BINARY_SUFFIXES):
            continue
        binaries += 1
        exported, file_faults = INSPECTORS[data[:4]](data)
        faults += [f"{name} {fault}" for fault in file_faults]
        if entry not in exported | {"main"}:
            faults.append(f"{name} exports no {entry}")
    if bills != (path.suffix == ".whl"):
        faults.append(f"expected a bill of materials only in a wheel, found {bills}")
    if binaries != bool(entry):
        faults.append(f"expected {int(bool(entry))} libraries or programs, found {binaries}")
    return faults


if __name__ == "__main__":
    faults = find_faults(Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
    if faults:
        sys.exit("\n".join(faults))
