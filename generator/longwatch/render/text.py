"""Text from the templates in longwatch/templates. The only place that knows Jinja.

Variables stand in `<< >>`, blocks in `<% %>`, comments in `<# #>`: braces belong to Prometheus, Alertmanager and Alloy.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jinja2


@cache
def _environment() -> jinja2.Environment:
    import jinja2  # late: `longwatch check` renders nothing and must start fast

    root = resources.files("longwatch") / "templates"

    def load(name: str) -> str | None:
        file = root.joinpath(*jinja2.loaders.split_template_path(name))  # refuses `..`
        return file.read_text(encoding="utf-8") if file.is_file() else None

    return jinja2.Environment(
        loader=jinja2.FunctionLoader(load),
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # the output is Markdown, Alloy and Go templates, never HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(template: str, **values: object) -> str:
    """`template` (a path below longwatch/templates, with forward slashes) with `values` filled in.

    Raises jinja2.TemplateError on a template that does not exist or asks for a value that was not handed in.
    """
    return _environment().get_template(template).render(**values)
