"""``python -m surefit`` is the command line."""

from surefit.cli import main

if __name__ == "__main__":
    main()
