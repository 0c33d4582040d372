"""A hook of mkdocs: a link from docs/ to a file elsewhere in the repository becomes the file's path, since the site does not have it."""

import os
import pathlib
import re

LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)#:]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown, page, config, **_):
    docs = pathlib.Path(config["docs_dir"])
    folder = (docs / page.file.src_path).parent

    def replaced(match):
        target = pathlib.Path(os.path.normpath(folder / match["target"]))
        if target.is_relative_to(docs):
            return match[0]
        path = f"`{target.relative_to(docs.parent)}`"
        return path if match["text"].strip("`") in path else f"{match['text']} ({path})"

    return LINK.sub(replaced, markdown)
