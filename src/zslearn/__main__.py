"""Run the command line as ``python -m zslearn``."""

from zslearn.cli import main

if __name__ == "__main__":
    main()
