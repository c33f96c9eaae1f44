"""Run the notebooks in this folder and save their outputs: `make notebooks`."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
PYTHON = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def main() -> None:
    """Run each notebook from top to bottom; if a cell fails, stop without changing its notebook."""
    for file in sorted(FOLDER.glob("*.ipynb")):
        print(f"running {file.name}", flush=True)
        notebook = nbformat.read(file, as_version=4)
        resources = {"metadata": {"path": str(FOLDER)}}
        NotebookClient(notebook, timeout=600, resources=resources, record_timing=False, coalesce_streams=True).execute()
        notebook.metadata = nbformat.from_dict(PYTHON)  # without the local versions
        nbformat.write(notebook, file)


if __name__ == "__main__":
    main()
