"""One case: what the system answers, and the form to say whether that is right."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core import profile as profiles
from core.records import Dataset
from core.show.plain import clean, literal, markup, shortened
from core.store import Store
from core.store.labels import MAX_LABELLER, MAX_NOTE, VERDICTS, JudgedCitation, Label, Verdict
from core.trace import RECIPES, Answer, Evidence, Trace
from evals.cases import Case
from workbench import data, settings, state
from workbench.runs import RunHead
from workbench.state import View

LABELLER = "cases:labeller"
SAID = "cases:said"
ABOUT: dict[Verdict, str] = {
    "correct": "Correct",
    "partly": "Partly correct",
    "wrong": "Wrong",
    "should-abstain": "Should have abstained",
}
SUPPORT: dict[str, bool | None] = {"not judged": None, "supports": True, "does not": False}
TEXT = 1500


def show(store: Store, dataset: Dataset, head: RunHead | None, case: Case, labels: Sequence[Label]) -> None:
    """Draws the question, the answer under the run's settings (else the default ones), and the form."""
    view = _view(dataset, head, case)
    profile = view.tuned()
    with st.spinner("Asking …", show_time=True):
        trace = data.asked(data.workspace(), dataset, view, profile)
    left, right = st.columns(2, gap="large")
    with left:
        _case(case, view)
        _answer(trace)
    with right:
        _said(labels)
        if settings.read_only():
            st.info(settings.READ_ONLY, icon=":material/lock:")
        else:
            _form(store, dataset, case, trace, view)


def _view(dataset: Dataset, head: RunHead | None, case: Case) -> View:
    """The question under the settings of the run; without one under those of recipe brain's default."""
    recipe = head.manifest.get("recipe") if head else "brain"
    recipe = recipe if recipe in RECIPES else "brain"
    wanted = str(head.manifest.get("profile")) if head else state.default_profile()
    name = wanted if wanted in profiles.shipped() else state.default_profile()
    values = (head.manifest.get("values") if head else None) or {}
    return View(
        dataset=dataset.name,
        recipe=recipe,
        profile=name,
        question=case.question,
        levels=tuple((head.manifest.get("levels") if head else None) or ()),
        as_of=case.as_of or "",
        known_at=case.known_at or "",
        changes=state.differing(profiles.load(name, recipe), values),
    )


def _case(case: Case, view: View) -> None:
    st.caption(f"case {literal(case.case_id)}")
    st.html(f'<p dir="auto"><strong>{markup(shortened(case.question, 4000))}</strong></p>')
    said = [f"gold answer: {shortened(answer, 300)}" for answer in case.answers[:3]]
    said += [f"gold evidence: {shortened(gold.key, 200)}" for gold in case.gold[:6]]
    if case.answerable is False:
        said.append(f"unanswerable: {shortened(case.why_unanswerable or 'not told why', 200)}")
    st.code("\n".join(said) or "no gold answer or evidence", language=None, wrap_lines=True)
    st.link_button(
        "Open its Trace on Ask", state.address(view), icon=":material/open_in_new:", key="cases:trace"
    )


def _answer(trace: Trace) -> None:
    given = trace.answer
    st.markdown("**The system abstained**" if given.abstained else "**The system answered**")
    kind = "assay-label-answer abstained" if given.abstained else "assay-label-answer"
    st.html(f'<div class="{kind}" dir="auto" tabindex="0">{markup(numbered(given))}</div>')


def numbered(answer: Answer) -> str:
    """The answer's text with citations as the numbers they carry in the form, cut where it is very long."""
    text = answer.text
    for number, item in enumerate(answer.evidence, start=1):
        text = text.replace(item.citation, f"[{number}]")
    return clean(text if len(text) <= 8 * TEXT else text[: 8 * TEXT] + " …")


def _said(labels: Sequence[Label]) -> None:
    for one in labels:
        note = f": {shortened(one.note, 300)}" if one.note else ""
        st.caption(f"{ABOUT[one.verdict]}, says {literal(one.labeller + note)} ({one.created_at[:16]})")


def _form(store: Store, dataset: Dataset, case: Case, trace: Trace, view: View) -> None:
    """A form, so that one press saves it all; what was saved is said only once it is committed."""
    place = f"{dataset.uid}:{case.case_id}"
    saved = st.session_state.pop(SAID, None)
    if saved:
        st.success(literal(saved), icon=":material/check_circle:")
    st.session_state.setdefault(LABELLER, st.session_state.get("labeller", ""))
    with st.form(f"label:{place}", border=True):
        labeller = st.text_input("Who judges", key=LABELLER, max_chars=MAX_LABELLER, placeholder="your name")
        verdict = st.radio(
            "The answer is",
            VERDICTS,
            index=None,
            key=f"verdict:{place}",
            format_func=lambda name: ABOUT[name],
        )
        judged = _citations(trace.answer.evidence, place)
        note = st.text_input("Note", key=f"note:{place}", max_chars=MAX_NOTE)
        pressed = st.form_submit_button("Save label", icon=":material/save:", type="primary")
    if not pressed:
        return
    if verdict is None or not labeller.strip():
        st.error("Say who judges, and what the answer is; nothing was saved.", icon=":material/error:")
        return
    kept = store.labels.add(
        dataset.dataset_id,
        Label(
            case_id=case.case_id,
            labeller=labeller,
            verdict=verdict,
            question=case.question,
            answer="" if trace.answer.abstained else trace.answer.text,
            citations=judged,
            recipe=view.recipe,
            profile=view.profile,
            note=note,
        ),
    )
    st.session_state["labeller"] = kept.labeller
    st.session_state[SAID] = f"Saved at {kept.created_at}: {ABOUT[kept.verdict]}, by {kept.labeller}"
    st.rerun()


def _citations(evidence: Sequence[Evidence], place: str) -> tuple[JudgedCitation, ...]:
    """Each citation with what it says and whether that supports the answer."""
    judged = []
    for number, item in enumerate(evidence, start=1):
        where = item.source + (f"#{item.turn}" if item.turn else "")
        st.html(
            f'<div class="assay-label-answer" dir="auto"><small>[{number}] {markup(shortened(where, 160))}</small><br>'
            f"{markup(shortened(item.quote or item.text, 400))}</div>"
        )
        said = st.segmented_control(
            f"Citation {number}",
            list(SUPPORT),
            key=f"support:{place}:{number}",
            default="not judged",
            required=True,
            label_visibility="collapsed",
        )
        judged.append(
            JudgedCitation(
                source=item.source, turn=item.turn, quote=item.quote or None, supports=SUPPORT[str(said)]
            )
        )
    return tuple(judged)
