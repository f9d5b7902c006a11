"""What pages below docs/ say, read from them."""
import pathlib, re

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def rows(page, head):
    """The cells of the table of a page whose first line begins with `head`."""
    lines = iter((DOCS / page).read_text().splitlines())
    next(x for x in lines if x.startswith(head))
    next(lines)
    out = []
    while (line := next(lines, "")).startswith("|"):
        out.append([x.strip() for x in line.strip("|").split(" | ")])
    return out


def names(text):
    return re.findall(r"`([^`]+)`", text)


def documents():
    """Verb -> the members that docs/json.md gives its document, or each element of it."""
    workspace = {x for cells in rows("json.md", "| Member ") for x in names(cells[0])}
    page = (DOCS / "json.md").read_text()
    session, event = (set(names(re.search(rf"\n{x}: ((?:.+\n)+)", page)[1])) for x in ("A session", "An event"))
    out = {}
    for verbs, text in rows("json.md", "| Verb "):
        said = set(names(text)) | (workspace if "a workspace" in text or "of workspaces" in text else set())
        for verb in names(verbs):
            out[verb] = said | (session if "session" in text else set()) | (event if "event" in text else set())
    return out
