"""A wheel of this build in a fresh environment: the guide's first example runs as written, and the tools start."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["TESSERA_LIBRARY"]).resolve().parents[1]


def run(*command, folder, env):
    """The output of a command, which must succeed."""
    done = subprocess.run([*map(str, command)], cwd=folder, env=env, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise AssertionError(f"{command} failed:\n{done.stdout}")
    return done.stdout


class WheelTest(unittest.TestCase):
    def test_fresh_environment(self):
        # What a user has: neither our variables nor the folders of the build.
        env = {name: value for name, value in os.environ.items() if not name.startswith(("TESSERA_", "PYTHON"))}
        env["PATH"] = os.pathsep.join(part for part in env["PATH"].split(os.pathsep)
                                      if not pathlib.Path(part).is_relative_to(BUILD))
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            env["XDG_CACHE_HOME"] = str(folder / "cache")
            run(sys.executable, ROOT / "capi/python/build.py", "--build", BUILD, "--out", folder, folder=folder, env=env)
            wheel, = folder.glob("tessera-*-py3-none-linux_x86_64.whl")
            # numpy is this Python's.
            made = subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", folder / "venv"],
                                  stdout=subprocess.PIPE, text=True, check=False)
            if made.returncode:
                self.skipTest("venv is not installed: " + made.stdout)
            env["PATH"] = str(folder / "venv/bin") + os.pathsep + env["PATH"]
            run("pip", "install", "--no-index", "--no-deps", wheel, folder=folder, env=env)
            where = run("python3", "-c", "import tessera; print(tessera.__file__)", folder=folder, env=env)
            self.assertIn(str(folder / "venv"), where)

            guide = (ROOT / "docs/guides/python.md").read_text().partition("## Run a problem")[2]
            example, wanted = re.match(r"\s*```sh\n(.*?)```\s*```text\n(.*?)```", guide, re.S).groups()
            result = run("bash", "-ec", example, folder=folder, env=env)
            self.assertRegex(result, re.escape(wanted.strip()).replace(re.escape("..."), ".+"))
            for tool in ("dnn-driver", "dnn-emu", "dnn-fit", "dnn-opt", "dnn-tune"):
                self.assertIn(tool, run(tool, "--help", folder=folder, env=env).lower())


if __name__ == "__main__":
    unittest.main()
