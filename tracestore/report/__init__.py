"""Pages about builds and answers: one HTML file each that needs nothing else."""

from tracestore.report.answer import AnswerPage, collect_answer
from tracestore.report.collect import Page, collect
from tracestore.report.render import render
from tracestore.report.render_answer import render_answer

__all__ = ["AnswerPage", "Page", "collect", "collect_answer", "render", "render_answer"]
