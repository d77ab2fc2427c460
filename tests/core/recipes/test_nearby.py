"""Recipe `graph` with geo on: what lies near the places of a question, found by name, by model or in the store."""

import json
from dataclasses import replace

import pytest

from core import profile as profiles
from core.errors import NotFoundError, UsageError
from core.geo.places import Place
from core.ingest.ingestor import ingest
from core.ingest.items import EntityItem, FactItem
from core.journal import Journal
from core.models.chat import ChatError, ChatReply
from core.trace import Trace
from core.workspace import Workspace

PLACES = {
    "Berlin": (52.52437, 13.41053, "Germany"),
    "Paris": (48.85341, 2.3488, "France"),
    "Paris, Texas": (33.66094, -95.55551, "United States"),
    "New York": (40.71427, -74.00597, "United States"),
    "Suva": (-18.14161, 178.44149, "Fiji"),
}
ITEMS = [
    EntityItem(name="Café Kranzler", type="cafe", description="coffee house", latitude=52.5038, longitude=13.3304),
    EntityItem(name="Sanssouci", type="palace", description="summer residence", latitude=52.4042, longitude=13.0385),
    EntityItem(name="Zwinger", type="palace", description="baroque palace", latitude=51.0530, longitude=13.7338),
    EntityItem(name="Louvre", type="museum", description="art museum", latitude=48.8606, longitude=2.3376),
    EntityItem(name="Taveuni", type="island", description="an island", latitude=-16.85, longitude=-179.97),
    EntityItem(name="York", type="place", description="a town in England", latitude=53.95763, longitude=-1.08271),
    EntityItem(name="Minster", type="church", description="cathedral", latitude=53.9620, longitude=-1.0819),
    EntityItem(name="Ines", type="person", description="baker"),
    FactItem(subject="Ines", relation="works_at", object="Café Kranzler", description="Ines bakes at Café Kranzler."),
    FactItem(subject="Ines", relation="worked_at", object="Louvre", description="Ines guarded at the Louvre.",
             created_at="2020-01-01", expired_at="2021-01-01"),
]  # fmt: skip


class Atlas:
    """Resolves what it holds, and finds names that stand in a text as they are written, the longest first."""

    def __init__(self):
        self.asked = []

    def resolve(self, name, hint=None):
        self.asked.append(name)
        wanted = f"{name}, {hint}" if hint else name
        found = PLACES.get(wanted)
        return found and Place(
            name=wanted, latitude=found[0], longitude=found[1], country=found[2], kind="city"
        )

    def find(self, text):
        found = []
        for name in sorted(PLACES, key=len, reverse=True):
            if name in text:
                found.append(self.resolve(name))
                text = text.replace(name, "")
        return found


class Model:
    """Lists ``places`` when asked for them, else answers out of all the entities it was given."""

    default_model = "m"

    def __init__(self, places, refused=False):
        self.places, self.refused, self.requests = places, refused, []

    def reply(self, request):
        self.requests.append(request)
        if request.stage == "detect_geo":
            text = self.places if isinstance(self.places, str) else json.dumps({"places": self.places})
            return ChatReply(text="" if self.refused else text, model="m", refused=self.refused)
        ids = [
            int(line.split("]")[0].split()[1])
            for line in request.prompt.splitlines()
            if line.startswith("[entity")
        ]
        return ChatReply(
            text=json.dumps({"answer": "So it is.", "entities": ids, "edges": [], "passages": []}), model="m"
        )


@pytest.fixture
def atlas():
    return Atlas()


@pytest.fixture
def workspace(make_workspace, atlas):
    made = make_workspace(ITEMS)
    made.geo = atlas
    return made


def ask(workspace, question, profile="seed", changes=None, **options):
    chosen = profiles.load(profile, "graph").with_values(changes or {})
    return workspace.ask(question, **{"dataset": "main", "recipe": "graph", "profile": chosen, **options})


def names(trace):
    return [item.name for item in trace.nearby.found]


def anchors(trace):
    return [anchor.name for anchor in trace.nearby.anchors]


def test_what_lies_within_the_radius(workspace):
    trace = ask(workspace, "What is near Berlin?", nearby_km=50)
    assert trace.nearby.radius_km == 50
    assert anchors(trace) == ["Berlin"]
    assert names(trace) == ["Café Kranzler", "Sanssouci"]
    assert [item.distance_km for item in trace.nearby.found] == pytest.approx([5.88, 28.53], abs=0.05)
    assert {item.anchor for item in trace.nearby.found} == {"Berlin"}
    assert names(ask(workspace, "What is near Berlin?", nearby_km=10)) == ["Café Kranzler"]
    assert names(ask(workspace, "What is near Berlin?", nearby_km=1)) == []


def test_the_radius_is_the_profile_s_or_the_question_s(workspace):
    trace = ask(workspace, "What is near Berlin?", nearby_km=12.5)
    assert trace.values["geo.radius_km"] == 12.5
    assert trace.stage("nearby").settings["geo.radius_km"] == 12.5
    assert profiles.load("seed", "graph").number("geo.radius_km") == 50


def test_half_the_circumference_finds_all_places(workspace):
    trace = ask(workspace, "What is near Berlin?", nearby_km=20015)
    assert len(names(trace)) == trace.nearby.within == 7
    assert [i.distance_km for i in trace.nearby.found] == sorted(i.distance_km for i in trace.nearby.found)


def test_across_the_antimeridian(workspace):
    assert names(ask(workspace, "What is near Suva?", nearby_km=250)) == ["Taveuni"]
    assert names(ask(workspace, "What is near Suva?", nearby_km=200)) == []


def test_found_entities_are_context_with_their_live_facts(workspace):
    trace = ask(workspace, "What is near Berlin?", nearby_km=50)
    given = {trace.candidate(key).text for key in trace.stage("expand").after}
    assert "Café Kranzler (cafe): coffee house" in given
    assert "Ines bakes at Café Kranzler." in given
    paris = ask(workspace, "What is near Paris?", nearby_km=50)
    given = {trace.candidate(key).text for key in paris.stage("expand").after if key.startswith("fact")}
    assert "Ines guarded at the Louvre." not in given  # superseded


def test_found_entities_may_be_cited_whatever_their_cosine(workspace):
    trace = ask(workspace, "What is near Berlin?", changes={"gate.min_cosine": 0.99}, nearby_km=50)
    assert not trace.answer.abstained
    assert {item.text for item in trace.answer.evidence} == {
        "Café Kranzler (cafe): coffee house", "Sanssouci (palace): summer residence", "Ines bakes at Café Kranzler.",
    }  # fmt: skip
    assert ask(workspace, "What is near Berlin?", changes={"gate.min_cosine": 0.99}).answer.abstained


def test_a_place_that_has_something_near_is_no_vague_question(workspace):
    """The latest entities stand in only where nothing matched, and nothing is near either."""
    vague = ask(workspace, "Anything near Suva?", nearby_km=1)
    assert len(vague.stage("expand").after) > 5
    trace = ask(workspace, "Anything near Suva?", nearby_km=250)  # by now Suva itself is stored
    assert {trace.candidate(key).name for key in trace.stage("expand").after} == {"Suva", "Taveuni"}
    first = ask(workspace, "Anything near Berlin?", nearby_km=20)
    assert {c.name for c in first.candidates if c.kind == "entity"} >= {"Café Kranzler", "Ines"}
    assert "Louvre" not in {first.candidate(key).name for key in first.stage("expand").after}


def test_the_answer_holds_no_more_than_k(workspace):
    trace = ask(workspace, "Who bakes near Berlin?", changes={"select.k": 2}, nearby_km=20015)
    assert len(trace.answer.evidence) == 2
    assert {item.kind for item in trace.answer.evidence} == {"entity", "fact"}


def test_the_nearest_are_kept_and_it_is_said(workspace):
    trace = ask(workspace, "What is near Berlin?", changes={"geo.entities": 1}, nearby_km=50)
    assert (names(trace), trace.nearby.within) == (["Café Kranzler"], 2)
    assert "2 entities lie within 50 km; the nearest 1 are given (geo.entities)." in trace.notices


def test_off_by_default(workspace, atlas):
    trace = ask(workspace, "What is near Berlin?")
    assert trace.nearby is None
    assert trace.stage("nearby") is None
    assert atlas.asked == []
    assert workspace.store.dataset("main").revision == ask_and_revision(workspace, "What is near Berlin?")


def ask_and_revision(workspace, question, **options):
    ask(workspace, question, **options)
    return workspace.store.dataset("main").revision


def test_switched_on_it_changes_nothing_that_does_not_ask_for_it(make_workspace, workspace):
    plain = make_workspace(ITEMS)
    question = "Who works at Café Kranzler?"
    on, off = ask(workspace, question), ask(plain, question)
    assert replace(on, times_ms={}, calls=()) == replace(off, times_ms={}, calls=())


def test_nearby_needs_geo_and_recipe_graph(make_workspace, workspace):
    with pytest.raises(UsageError, match=r"only with geo on: .*--geo gazetteer"):
        ask(make_workspace(ITEMS), "What is near Berlin?", nearby_km=50)
    with pytest.raises(UsageError, match="searched by recipe graph, not by brain"):
        workspace.ask(
            "What?", dataset="main", recipe="brain", profile=profiles.load("seed", "brain"), nearby_km=50
        )


@pytest.mark.parametrize("radius", [0, -1, 20016, float("nan"), float("inf"), True])
def test_a_radius_out_of_range(workspace, radius):
    with pytest.raises(UsageError, match="greater than 0 and at most 20015"):
        ask(workspace, "What is near Berlin?", nearby_km=radius)


def test_a_question_without_a_place(workspace):
    trace = ask(workspace, "Who bakes?", nearby_km=50)
    assert trace.nearby is None
    assert "The question names no known place, so nothing was searched nearby." in trace.notices


def test_the_trace_survives_json(workspace):
    trace = ask(workspace, "What is near Berlin?", nearby_km=50)
    assert trace.nearby.found
    assert Trace.from_json(trace.to_json()) == trace
    old = json.loads(ask(workspace, "Who bakes?").to_json())
    del old["nearby"]
    assert Trace.from_json(json.dumps(old)).nearby is None


class TestStoredPlaces:
    def test_a_resolved_place_is_stored_once(self, workspace, atlas):
        before = workspace.store.dataset("main").revision
        first = ask(workspace, "What is near Berlin?", nearby_km=50)
        (stored,) = workspace.store.places_named([1], ["berlin"])
        assert (stored.name, stored.type, stored.description) == ("Berlin", "place", "city in Germany")
        assert (stored.latitude, stored.longitude) == PLACES["Berlin"][:2]
        assert first.nearby.anchors[0].entity_id == stored.entity_id
        assert workspace.store.dataset("main").revision == before + 1
        second = ask(workspace, "What is near Berlin?", nearby_km=50)
        assert workspace.store.dataset("main").revision == before + 1
        assert second.nearby.anchors[0].entity_id == stored.entity_id
        assert names(second) == names(first)  # the place itself is searched around, not found

    def test_later_questions_find_it_in_the_database(self, workspace, atlas):
        ask(workspace, "What is near Berlin?", nearby_km=50)
        atlas.resolve = atlas.find = lambda *_: pytest.fail("the resolver was asked")
        trace = ask(workspace, "What is near Berlin?", chat=Model(["Berlin"]), nearby_km=50)
        assert anchors(trace) == ["Berlin"]

    def test_coordinates_that_are_there_stay(self, make_workspace, atlas):
        own = EntityItem(name="Paris", type="town", description="ours", latitude=33.66, longitude=-95.56)
        workspace = make_workspace([*ITEMS, own])
        workspace.geo = atlas
        before = workspace.store.dataset("main").revision
        trace = ask(workspace, "What is near Paris?", nearby_km=50)
        (anchor,) = trace.nearby.anchors
        assert (anchor.latitude, anchor.longitude, anchor.about) == (33.66, -95.56, "ours")
        assert names(trace) == []
        assert workspace.store.dataset("main").revision == before

    @pytest.mark.parametrize(
        ("kind", "about", "after"),
        [("city", "the capital", [("city", "the capital", True)]),
         ("City", "", [("City", "city in Germany", True)]),
         ("thing", "", [("place", "city in Germany", True)]),
         ("person", "a singer", [("person", "a singer", False), ("place", "city in Germany", True)])],
    )  # fmt: skip
    def test_an_entity_without_coordinates(self, make_workspace, atlas, kind, about, after):
        workspace = make_workspace([*ITEMS, EntityItem(name="Berlin", type=kind, description=about)])
        workspace.geo = atlas
        ask(workspace, "What is near Berlin?", nearby_km=50)
        stored = [each for each in workspace.store.all_entities([1]) if each.name == "Berlin"]
        assert [(each.type, each.description, each.latitude is not None) for each in stored] == after

    def test_nothing_is_stored_unless_nearby_is_asked_for(self, workspace):
        before = workspace.store.dataset("main").revision
        ask(workspace, "What is near Berlin?", chat=Model(["Berlin"]))
        assert workspace.store.dataset("main").revision == before

    def test_nothing_is_stored_when_answering_fails(self, workspace):
        class Failing(Model):
            def reply(self, request):
                if request.stage == "query":
                    raise ChatError("down", "unavailable")
                return super().reply(request)

        before = workspace.store.dataset("main").revision
        with pytest.raises(ChatError):
            ask(workspace, "What is near Berlin?", chat=Failing(["Berlin"]), nearby_km=50)
        assert workspace.store.dataset("main").revision == before

    def test_several_datasets(self, workspace):
        ingest(workspace.store, "more", [("x:1", ITEMS[1])])
        trace = ask(workspace, "What is near Berlin?", dataset="m*", nearby_km=50)
        assert names(trace) == ["Café Kranzler", "Sanssouci", "Sanssouci"]
        assert trace.nearby.anchors[0].entity_id is None
        assert "Places are stored only where a single dataset is asked." in trace.notices

    def test_other_datasets_and_users_are_not_found(self, workspace):
        ingest(workspace.store, "main", [("x:1", ITEMS[1])], user_id="other")
        ingest(workspace.store, "else", [("x:1", ITEMS[1])])
        assert names(ask(workspace, "What is near Berlin?", nearby_km=50)) == ["Café Kranzler", "Sanssouci"]
        with pytest.raises(NotFoundError):
            ask(workspace, "What is near Berlin?", nearby_km=50, user_id="nobody")

    def test_a_database_that_may_not_be_written(self, workspace):
        ask(workspace, "What is near Berlin?")  # embeds
        workspace.store.database.connection().execute("PRAGMA query_only = ON")
        trace = ask(workspace, "What is near Berlin?", nearby_km=50)
        assert names(trace) == ["Café Kranzler", "Sanssouci"]
        assert any("places of the question were not stored" in notice for notice in trace.notices)


class TestAnchors:
    def test_matched_entities_with_coordinates(self, workspace):
        """`cathedral` matches Minster's description, which has coordinates."""
        trace = ask(workspace, "What is near the cathedral?", nearby_km=50)
        assert anchors(trace) == ["Minster"]
        assert names(trace) == ["York"]

    def test_profile_default_asks_for_the_whole_name(self, workspace):
        changes = {"geo.anchors": "named"}
        assert ask(workspace, "What is near the cathedral?", changes=changes, nearby_km=50).nearby is None
        assert anchors(ask(workspace, "What is near Minster?", changes=changes, nearby_km=50)) == ["Minster"]
        assert profiles.load("default", "graph").choice("geo.anchors") == "named"
        assert profiles.load("seed", "graph").choice("geo.anchors") == "matched"

    def test_a_matched_entity_is_found_near_another_anchor(self, workspace):
        trace = ask(workspace, "Which coffee is near Berlin?", nearby_km=50)
        assert anchors(trace) == ["Berlin", "Café Kranzler"]
        assert [(item.name, item.anchor) for item in trace.nearby.found] == [
            ("Café Kranzler", "Berlin"),
            ("Sanssouci", "Café Kranzler"),
        ]

    def test_part_of_a_longer_name_is_another_place(self, workspace):
        assert anchors(ask(workspace, "What is near New York?", nearby_km=50)) == ["New York"]
        both = ask(
            workspace, "What is nearer, York or New York?", chat=Model(["York", "New York"]), nearby_km=50
        )
        assert anchors(both) == ["York", "New York"]

    def test_a_definite_name_is_not_the_indefinite_one(self, workspace):
        ask(workspace, "What is near Paris?", nearby_km=50)
        assert anchors(ask(workspace, "What is near Paris, Texas?", nearby_km=50)) == ["Paris, Texas"]
        assert anchors(ask(workspace, "What is near Paris?", nearby_km=50)) == ["Paris"]


class TestByModel:
    def test_a_model_lists_the_places(self, workspace, atlas):
        model = Model(["Berlin", "Suva"])
        journal = Journal(kind="query")
        atlas.find = lambda text: pytest.fail("the gazetteer was asked beside the model")
        trace = ask(workspace, "From Berlin to Suva?", chat=model, journal=journal, nearby_km=50,
                    reasoning={"detect_geo": "low"}, models={"detect_geo": "small"})  # fmt: skip
        assert anchors(trace) == ["Berlin", "Suva"]
        detect, query = model.requests
        assert (detect.stage, detect.reasoning, detect.model) == ("detect_geo", "low", "small")
        assert "<question>\nFrom Berlin to Suva?\n</question>" in detect.prompt
        assert [each.stage for each in journal.inferences if each.stage != "embed"] == ["detect_geo", "query"]
        assert {"detect_geo", "nearby"} <= {step.name for step in journal.steps}
        assert "Café Kranzler (cafe) lies 5.9 km from Berlin" in query.prompt
        assert "Café Kranzler" in {item.name for item in trace.answer.evidence}

    def test_all_that_was_found_is_sent(self, workspace):
        model = Model(["Berlin"])
        ask(workspace, "What is near Berlin?", chat=model, changes={"select.k": 1}, nearby_km=50)
        prompt = model.requests[-1].prompt
        assert "Café Kranzler (cafe): coffee house" in prompt
        assert "Sanssouci (palace): summer residence" in prompt

    def test_with_geo_on_the_model_lists_them_unasked(self, workspace, atlas):
        model = Model(["Berlin"])
        trace = ask(workspace, "Who bakes near Berlin?", chat=model)
        assert [request.stage for request in model.requests] == ["detect_geo", "query"]
        assert trace.nearby is None
        assert atlas.asked == []

    def test_without_geo_it_is_not_asked(self, make_workspace):
        model = Model(["Berlin"])
        ask(make_workspace(ITEMS), "Who bakes near Berlin?", chat=model)
        assert [request.stage for request in model.requests] == ["query"]

    def test_what_the_question_does_not_say_is_left_out(self, workspace):
        trace = ask(
            workspace,
            "What is near Berlin?",
            chat=Model(["Paris", "Berlin, Germany", "Berlin", ""]),
            nearby_km=50,
        )
        assert anchors(trace) == ["Berlin"]

    def test_a_place_nobody_knows(self, workspace):
        trace = ask(workspace, "What is near Narnia?", chat=Model(["Narnia"]), nearby_km=50)
        assert trace.nearby is None
        assert "No place called 'Narnia' is known; it was not searched around." in trace.notices

    def test_a_refusal(self, workspace):
        trace = ask(workspace, "What is near Berlin?", chat=Model([], refused=True), nearby_km=50)
        assert trace.nearby is None
        assert any("declined to list the places" in notice for notice in trace.notices)

    @pytest.mark.parametrize(
        "reply",
        ["none", "[]", '{"place": []}', '{"places": "Berlin"}', '{"places": [1]}', '{"places": ["Berlin"', "{}",
         '{"places": []} {"places": ["Berlin"]}'],
    )  # fmt: skip
    @pytest.mark.parametrize("radius", [None, 50])
    def test_a_reply_that_cannot_be_used(self, workspace, reply, radius):
        journal = Journal(kind="query")
        with pytest.raises(ChatError, match="list of places cannot be used") as caught:
            ask(workspace, "What is near Berlin?", chat=Model(reply), journal=journal, nearby_km=radius)
        assert caught.value.outcome == "unparsable"
        assert journal.inferences[-1].outcome == "unparsable"

    def test_no_more_places_than_ten(self, workspace):
        many = [f"Berlin{number}" for number in range(30)]
        trace = ask(workspace, f"Near {' or '.join(many)}?", chat=Model(many), nearby_km=50)
        assert sum("No place called" in notice for notice in trace.notices) == 10


def test_with_the_real_gazetteer(make_workspace, tmp_path):
    make_workspace(ITEMS)
    with Workspace.open(
        tmp_path / "assay.db", embedder=make_workspace([]).embedder, geo="gazetteer"
    ) as workspace:
        trace = ask(workspace, "Which cafés are near Berlin, Germany?", nearby_km=50)
        assert names(trace) == ["Café Kranzler", "Sanssouci"]
        assert anchors(trace) == ["Berlin"]
        assert trace.nearby.anchors[0].about == "city in Germany"
        assert workspace.store.places_named([1], ["berlin"])
