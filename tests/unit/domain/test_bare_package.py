"""What a package loads by itself is left out, its modules are what they are."""

import subprocess
import sys
from pathlib import Path

import pytest

from desktop.domain.loading.bare_package import bare_packages
from tests.harness.timeouts import WAIT_S

ROOT = Path(__file__).resolve().parents[3]


def printed(code: str) -> str:
    lines = ("import sys", "from desktop.domain.loading.bare_package import bare_packages", *code.splitlines())
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=ROOT, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


def test_a_module_is_imported_and_what_its_package_would_load_is_not():
    code = "bare_packages('acp')\nfrom acp.connection import Connection\nimport acp\n"
    assert (
        printed(code + "print(Connection is acp.connection.Connection, 'acp.schema' in sys.modules)") == "True False\n"
    )
    assert printed("import acp\nprint('acp.schema' in sys.modules)") == "True\n", "there is something to leave out"


def test_a_package_in_another_is_found_by_its_name():
    code = "bare_packages('mcp', 'mcp.client')\nimport mcp.client.auth\nimport mcp\n"
    found = printed(code + "print(mcp.client.auth.OAuthFlowError.__name__, 'mcp.server' in sys.modules)")
    assert found == "OAuthFlowError False\n"


def test_what_is_loaded_already_stays_as_it_is():
    assert (
        printed("import json\nbare_packages('json')\nprint(json is sys.modules['json'], json.loads('1'))") == "True 1\n"
    )


@pytest.mark.parametrize("name", ["nowhere_to_be_found", "colorsys"])
def test_only_a_package_that_is_here_can_be_bare(name: str):
    with pytest.raises(ModuleNotFoundError, match=name):
        bare_packages(name)
    assert name not in sys.modules


@pytest.mark.parametrize(("host", "left_out"), [("acp", "acp.schema"), ("mcp", "mcp.server")])
def test_the_hosts_start_without_what_they_do_not_use(host: str, left_out: str):
    main = ROOT / f"desktop/workers/{host}_host/__main__.py"
    command = [sys.executable, "-I", "-X", "utf8", "-X", "importtime", str(main)]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=WAIT_S)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert f"desktop.workers.{host}_host.connection" in loaded
    assert left_out not in loaded
