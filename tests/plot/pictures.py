"""What is written into pictures, and what is read off them."""

import io

HOSTILE = ["$x_1$", "$\\frac{", "<script>", "_hidden", "", " \n\t", "a\x00b", "%d {} \\n", "µ Ж 日",
           "long " * 500]  # fmt: skip


def rendered(ax, kind="svg"):
    """The bytes of the picture: drawing is where bad text or colours would fail."""
    stream = io.BytesIO()
    ax.figure.savefig(stream, format=kind)
    return stream.getvalue()


def legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]
