"""The Python package of dfc: the compiler, its libraries and `import dfc`, in one wheel for this machine.

    make                                 # in the folder of dfc
    pip wheel --no-build-isolation --no-deps compiler/python

DFC_BUILD names another folder than build/release that holds bin/dfc, lib/, include/ and share/.
"""
import os
import pathlib
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("DFC_BUILD") or HERE.parent.parent / "build/release").resolve()
if not os.access(BUILD / "bin/dfc", os.X_OK):
    raise SystemExit(f"there is no {BUILD}/bin/dfc: run make first, or set DFC_BUILD")
(BUILD / "python").mkdir(exist_ok=True)
VERSION = subprocess.run([BUILD / "bin/dfc", "--version"], check=True, capture_output=True, text=True).stdout.split()[1]


class WithHome(build_py):
    """Puts the command, its libraries and its headers beside the modules."""

    def run(self):
        super().run()
        home = pathlib.Path(self.build_lib) / "dfc/home"
        shutil.rmtree(home, ignore_errors=True)
        for folder in ("bin", "lib", "include", "share/dfc/std", "share/dfc/python"):
            shutil.copytree(BUILD / folder, home / folder, ignore=shutil.ignore_patterns("*driver.a", "__pycache__"))


class OfThisMachine(Distribution):
    def has_ext_modules(self):
        return True


setup(name="dfc", version=VERSION, description="Dataflow graphs of C and CUDA kernels, compiled and called as functions", license="MIT",
      packages=["dfc"], install_requires=["numpy"], python_requires=">=3.9", cmdclass={"build_py": WithHome}, distclass=OfThisMachine,
      options={"build": {"build_base": str(BUILD / "python")}, "egg_info": {"egg_base": str(BUILD / "python")}},
      entry_points={"console_scripts": ["dfc = dfc.__main__:main"]})
