"""Prints tables of download sizes. Usage: ``sizes.py FOLDER``, where the folder contains the files of a release.

For comparison, the tables also contain other packages. Their newest versions are downloaded with pip, npm and cargo. An
unpacked size is the sum of the sizes of all files in an archive. Sizes are in bytes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

PYPI_PACKAGES = ["c_uuid_v7", "fastuuidv7", "python-ulid", "ulid-transform", "uuid_utils"]
NPM_PACKAGES = ["@napi-rs/uuid", "@napi-rs/uuid-linux-x64-gnu", "nanoid", "ulid", "uniku", "uuid"]
CRATES = ["fast-uuid-v7", "ferroid", "ulid", "uuid"]
# No ID library ships a program on both registries, so the comparison uses a linter and a bundler.
PYPI_PROGRAMS = ["ruff"]
NPM_PROGRAMS = ["@esbuild/linux-x64"]

OWN_PATTERNS = {
    "Python wheels": ["wheel-linux-x64-gnu/*.whl", "wheel-linux-x64-gnu-cp312/*.whl"],
    "npm packages": ["npm/*.tgz", "addon-linux-x64-gnu/*.tgz"],
    "crates": ["crates/*.crate"],
    "programs": ["program-linux-x64-gnu/*"],
}


def run(*words: str, folder: Path, **env: str) -> str:
    """Runs a command, and returns its output."""
    result = subprocess.run(words, cwd=folder, env={**os.environ, **env}, check=True, stdout=subprocess.PIPE, text=True)
    return result.stdout


def download_from_pypi(names: list[str], folder: Path) -> list[Path]:
    destination = folder / "pypi"
    options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(destination)]
    run(sys.executable, "-m", "pip", "download", *options, *names, folder=folder)
    return list(destination.iterdir())


def download_from_npm(names: list[str], folder: Path) -> list[Path]:
    destination = folder / "npm"
    destination.mkdir(exist_ok=True)
    run("npm", "pack", "--silent", "--pack-destination", str(destination), *names, folder=folder)
    return list(destination.iterdir())


def download_from_cargo(names: list[str], folder: Path) -> list[Path]:
    """Downloads crates into a new, empty Cargo home directory."""
    cargo_env = {"CARGO_HOME": str(folder / "cargo")}
    project = folder / "project"
    run("cargo", "init", "--quiet", "--vcs", "none", "--name", "peers", str(project), folder=folder, **cargo_env)
    run("cargo", "add", "--quiet", *names, folder=project, **cargo_env)
    metadata = json.loads(run("cargo", "metadata", "--quiet", "--format-version", "1", folder=project, **cargo_env))
    files = [f"{one['name']}-{one['version']}.crate" for one in metadata["packages"] if one["name"] in names]
    return [path for file in files for path in (folder / "cargo/registry/cache").glob(f"*/{file}")]


def unpacked_size(path: Path) -> int:
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    with tarfile.open(path) as archive:
        return sum(member.size for member in archive)


def table(title: str, ours: list[Path], peers: list[Path]) -> Iterator[str]:
    if not ours or not peers:
        sys.exit(f"expected files of {title}, found {len(ours)} of ours and {len(peers)} of others")
    yield f"| {title} | download | unpacked |"
    yield "|---|---|---|"
    for path in [*sorted(ours), *sorted(peers, key=lambda path: path.name.lower())]:
        name = f"**{path.name}**" if path in ours else path.name
        yield f"| {name} | {path.stat().st_size:,} | {unpacked_size(path):,} |"
    yield ""


def main(built: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "programs").mkdir()
        peers = {
            "Python wheels": download_from_pypi(PYPI_PACKAGES, folder),
            "npm packages": download_from_npm(NPM_PACKAGES, folder),
            "crates": download_from_cargo(CRATES, folder),
            "programs": [
                *download_from_pypi(PYPI_PROGRAMS, folder / "programs"),
                *download_from_npm(NPM_PROGRAMS, folder / "programs"),
            ],
        }
        for title, patterns in OWN_PATTERNS.items():
            own_paths = [path for pattern in patterns for path in built.glob(pattern)]
            print("\n".join(table(title, own_paths, peers[title])))


main(Path(sys.argv[1]))
