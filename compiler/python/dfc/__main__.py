"""The dfc command, as `python -m dfc` or by the script that an installed package has."""
import os
import sys

from . import command


def main():
    path = command()
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
