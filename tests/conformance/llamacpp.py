"""Builds real model servers for ``test_local_models.py``: ``python3 tests/conformance/llamacpp.py FOLDER``.

llama.cpp's server is compiled from the sources that PyPI's ``llama-cpp-python`` brings, which takes some 20 minutes on
two cores; that package's own server, in Python, runs on the same libraries. Then set ``LLAMA_CPP`` to the folder.
"""

import os
import subprocess
import sys
import tarfile
from pathlib import Path

DISTRIBUTION = "llama-cpp-python"
PARTS = ("fastapi", "uvicorn", "starlette-context", "pydantic-settings", "sse-starlette", "PyYAML")
NEEDS = (*PARTS, "numpy", "diskcache", "jinja2", "typing-extensions")
OPTIONS = (
    *("-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "-DBUILD_SHARED_LIBS=ON"),
    *("-DGGML_NATIVE=OFF", "-DGGML_OPENMP=OFF", "-DLLAMA_OPENSSL=OFF", "-DLLAMA_CURL=OFF"),
    *("-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF", "-DLLAMA_BUILD_APP=OFF"),
    "-DLLAMA_USE_PREBUILT_UI=OFF",
)


def run(*command: str) -> None:
    subprocess.run(command, check=True)


def build(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    fetch = (sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", DISTRIBUTION)
    run(*fetch, "--dest", str(folder), DISTRIBUTION)
    for archive in folder.glob("llama_cpp_python-*.tar.gz"):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    sources = next(folder.glob("llama_cpp_python-*/vendor/llama.cpp"))
    run("cmake", "-S", str(sources), "-B", str(folder / "build"), *OPTIONS)
    workers = str(os.cpu_count() or 1)
    run("nice", "cmake", "--build", str(folder / "build"), "--parallel", workers, "--target", "llama-server")
    run(sys.executable, "-m", "venv", str(folder / "python"))
    run(str(folder / "python" / "bin" / "pip"), "install", "--quiet", *NEEDS)


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
