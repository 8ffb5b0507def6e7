"""Each framework in an environment of its own (they clash): its conformance tests, and the published table.

python -m tests.frameworks NAME [NAME...]    make or refresh the environment, run the tests of its adapter
python -m tests.frameworks --first           those that CI runs every time
python -m tests.frameworks --all             all of them
python -m tests.frameworks --list            the names
python -m tests.frameworks --all --report    measure them, and write reports/frameworks/

The environments lie in .frameworks/ in the checkout; an existing one is used again. `--fresh` makes it
anew, `--fast` leaves out the tests that play whole suites.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.frameworks.environments import FIRST, made, names, passes
from tests.frameworks.report import measured, published


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    reader = argparse.ArgumentParser(
        prog="python -m tests.frameworks", description="Conformance of adapters."
    )
    reader.add_argument("names", nargs="*", metavar="NAME", help="frameworks, see --list")
    reader.add_argument("--first", action="store_true", help="those that CI runs every time")
    reader.add_argument("--all", action="store_true", help="all of them")
    reader.add_argument("--list", action="store_true", help="only list the names")
    reader.add_argument("--fresh", action="store_true", help="make the environments anew")
    reader.add_argument("--fast", action="store_true", help="without the tests that play whole suites")
    reader.add_argument("--report", action="store_true", help="measure, and write reports/frameworks/")
    reader.add_argument("--make", action="store_true", help="only make the environments")
    asked = reader.parse_args()
    if asked.list:
        say("\n".join(names()))
        return 0
    chosen = names() if asked.all else [*(n for n in FIRST if asked.first and n in names()), *asked.names]
    unknown = [name for name in chosen if name not in names()]
    if unknown or not chosen:
        reader.error(
            f"no framework {', '.join(unknown)}. Known: {', '.join(names())}" if unknown else "name one"
        )
    failed = []
    for name in chosen:
        start = time.monotonic()
        say(f"== {name}")
        made(name, asked.fresh)
        good = measured(name) if asked.report else asked.make or passes(name, asked.fast)
        failed += [] if good else [name]
        say(f"== {name}: {'passed' if good else 'FAILED'} in {time.monotonic() - start:.1f} s\n")
    if asked.report:
        say(f"written: {published()}")
    say(
        f"frameworks: {len(chosen) - len(failed)} passed, {len(failed)} failed{': ' * bool(failed)}{', '.join(failed)}"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
