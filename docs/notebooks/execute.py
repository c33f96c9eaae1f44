"""Runs the notebooks beside this file anew and keeps what they show: `make notebooks`."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
PYTHON = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def main() -> None:
    """Run each from top to bottom in this folder; a cell that fails ends it, and its notebook stays as it was."""
    for file in sorted(FOLDER.glob("*.ipynb")):
        print(f"running {file.name}", flush=True)
        notebook = nbformat.read(file, as_version=4)
        where = {"metadata": {"path": str(FOLDER)}}
        NotebookClient(notebook, timeout=600, resources=where, record_timing=False, coalesce_streams=True).execute()
        notebook.metadata = nbformat.from_dict(PYTHON)  # without the versions of whoever runs it
        nbformat.write(notebook, file)


if __name__ == "__main__":
    main()
