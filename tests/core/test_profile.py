import pytest

from core import profile as profiles
from core.errors import NotFoundError, ProfileError, ScoreSpaceError
from core.thresholds import THRESHOLDS, Threshold, for_recipe
from core.trace import RECIPES

MINILM = {
    "cosine": "cosine/minilm-l6-int8",
    "tfidf+cosine": "tfidf+cosine/minilm-l6-int8",
    "overlap": "overlap",
}
DOCUMENTED = {
    "brain": {"floor.min_overlap": 0.12, "floor.min_score": 0.34, "floor.strong_overlap": 0.2, "mmr.lambda": 0.72,
              "recall.lexical_k": 50, "recall.dense_k": 50, "select.k": 5, "blend.weight": 0.5, "rerank.method": "none",
              "fusion.confidence_weight": 0},
    "memory": {"recall.dense_k": 50, "recall.k_factor": 10, "select.k": 5, "rerank.method": "maxsim",
               "rerank.weight": 1.0},
    "graph": {"keywords.max_terms": 12, "keywords.min_length": 2, "keywords.name_points": 5, "keywords.term_points": 3,
              "keywords.description_points": 1, "keywords.seeds": 10, "similar.entities": 10, "similar.facts": 10,
              "similar.chunks": 5, "similar.summaries": 5, "floor.min_cosine": 0.75, "graph.fallback_entities": 25,
              "graph.hop_facts": 100, "graph.passages_with_text": 3, "graph.passages_with_summary": 5},
}  # fmt: skip


def written(tmp_path, body: str):
    file = tmp_path / "mine.toml"
    file.write_text('name = "mine"\n' + body)
    return file


@pytest.mark.parametrize("recipe", RECIPES)
def test_seed_holds_the_documented_numbers(recipe):
    seed = profiles.load("seed", recipe)
    assert {name: seed.values[name] for name in DOCUMENTED[recipe]} == DOCUMENTED[recipe]


@pytest.mark.parametrize("name", profiles.shipped())
@pytest.mark.parametrize("recipe", RECIPES)
def test_shipped_profiles_are_whole_and_survive_a_file(name, recipe, tmp_path):
    loaded = profiles.load(name, recipe)
    assert list(loaded.values) == [knob.name for knob in for_recipe(recipe)]
    file = tmp_path / "copy.toml"
    file.write_text(profiles.to_toml(loaded))
    copy = profiles.load(file, recipe)
    assert (copy.values, copy.spaces, copy.fingerprint) == (loaded.values, loaded.spaces, loaded.fingerprint)


@pytest.mark.parametrize("knob", THRESHOLDS, ids=lambda knob: knob.name)
def test_every_threshold_says_what_it_is(knob: Threshold):
    assert knob.unit
    assert knob.about
    assert knob.low < knob.high
    assert knob.recipes


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("[brain.floor]\nmin_overlpa = 0.1", "unknown key 'floor.min_overlpa'"),
        ("[brian.floor]\nmin_overlap = 0.1", "unknown key 'brian'"),
        ("[brain.floor]\nmin_overlap = 0.1", "must name its score space"),
        (
            '[brain.floor]\nmin_score = { value = 0.4, space = "cosine/minilm-l6-int8" }',
            "must name its score space",
        ),
        ('[brain.floor]\nmin_overlap = { value = 1.5, space = "overlap" }', r"in \[0, 1\], got 1.5"),
        ("[brain.select]\nk = 2.5", "whole number"),
        ("[brain.select]\nk = true", "whole number"),
        ("[brain.mmr]\nlambda = nan", r"in \[0, 1\]"),
        ('[brain.mmr]\nlambda = "0.7"', r"in \[0, 1\]"),
        ('[brain.mmr]\nlambda = { value = 0.7, space = "overlap" }', "has no space"),
        ('[brain.fusion]\nmethod = "magic"', "one of blend, convex"),
        ("[brain\n", "not valid TOML"),
        ('base = "nowhere"', "no profile 'nowhere'"),
        (f"x = {'[' * 500}{']' * 500}", "not valid TOML: maximum recursion depth"),
        (f"x = {'9' * 5000}", "not valid TOML: Exceeds the limit"),
        ("[brain]\norigin = 3", r"\[brain.origin\] must be a table, got 3"),
        ("[brain.origin]\nmade = 2024-01-01", r"\[brain.origin\] made must be a text, .* got datetime.date"),
        ("[brain.origin]\nauroc = nan", r"\[brain.origin\] auroc must be .* got nan"),
        ("[brain.origin]\nset = { a = 1 }", r"\[brain.origin\] set must be .* got {'a': 1}"),
    ],
)
def test_a_malformed_profile_is_refused(tmp_path, body, message):
    with pytest.raises((ProfileError, NotFoundError), match=message):
        profiles.load(written(tmp_path, body), "brain")


def test_what_is_left_out_comes_from_the_base(tmp_path):
    mine = profiles.load(written(tmp_path, "[brain.mmr]\nlambda = 0.9"), "brain")
    assert mine.values == {**profiles.load("seed", "brain").values, "mmr.lambda": 0.9}


def test_a_wildcard_binds_and_says_so():
    notices = profiles.load("seed", "brain").bind(MINILM)
    assert any(
        "floor.min_score = 0.34" in notice and "tfidf+cosine/minilm-l6-int8" in notice for notice in notices
    )


def test_a_foreign_score_space_is_refused(tmp_path):
    body = '[brain.floor]\nmin_score = { value = 0.4, space = "tfidf+cosine/wordllama-256" }'
    mine = profiles.load(written(tmp_path, body), "brain")
    with pytest.raises(ScoreSpaceError, match=r"tfidf\+cosine/wordllama-256.*tfidf\+cosine/minilm-l6-int8"):
        mine.bind(MINILM)


def test_a_cut_that_drops_nothing_needs_no_space():
    notices = profiles.load("seed", "brain").bind(MINILM)
    assert not any("floor.min_cosine" in notice for notice in notices)


@pytest.mark.parametrize("name", ["default", "maxsim"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_tuned_profiles_name_their_model_in_every_cut(name, recipe):
    active = MINILM | {"rerank": "maxsim/minilm-l6-int8", "graph-points": "graph-points"}
    assert profiles.load(name, recipe).bind(active) == []


def test_equal_values_have_equal_fingerprints():
    seed = profiles.load("seed", "brain")
    assert seed.with_values({"mmr.lambda": 0.72}).fingerprint == seed.fingerprint
    assert seed.with_values({"mmr.lambda": 0.73}).fingerprint != seed.fingerprint


def test_an_unknown_profile_lists_the_shipped_ones():
    with pytest.raises(NotFoundError, match=r"shipped are .*seed"):
        profiles.load("nope", "brain")


def test_a_file_that_is_no_text_is_refused(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_bytes(b'name = "\xff"')
    with pytest.raises(ProfileError, match=r"mine.toml: not UTF-8 at byte 9; save it as UTF-8"):
        profiles.load(file, "brain")


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    file = written(tmp_path, "")

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(profiles, "read_whole", refuse)
    with pytest.raises(ProfileError, match=r"mine.toml: cannot be read: Permission denied"):
        profiles.load(file, "brain")


def test_how_a_profile_was_made_survives_a_file(tmp_path):
    mine = profiles.load(
        written(tmp_path, '[brain.origin]\nset = "clapnq"\nauroc = 0.9\nn = 3\nok = true'), "brain"
    )
    file = tmp_path / "copy.toml"
    file.write_text(profiles.to_toml(mine))
    assert dict(profiles.load(file, "brain").origin) == {"set": "clapnq", "auroc": 0.9, "n": 3, "ok": True}


def test_facts_to_come_are_dropped_by_default_and_kept_by_seed():
    chosen = {name: profiles.load(name, "graph").choice("graph.future_facts") for name in ("default", "seed")}
    assert chosen == {"default": "drop", "seed": "keep"}


@pytest.mark.parametrize(
    "space", ["distance/minilm-l6-int8", "cosine-distance/minilm-l6-int8", "l2/minilm-l6-int8"]
)
def test_a_floor_on_similarity_takes_no_distance(tmp_path, space):
    body = f'[memory.floor]\nmin_cosine = {{ value = 0.2, space = "{space}" }}'
    with pytest.raises(ProfileError, match=r'must name its score space, e\.g\. .*"cosine/…".*got .*' + space):
        profiles.load(written(tmp_path, body), "memory")


def test_by_default_every_recipe_may_decline_and_by_seed_only_brain():
    cuts = {"graph": "gate.min_cosine", "memory": "gate.min_best_cosine", "brain": "floor.min_score"}
    lets_all_pass = {"gate.min_cosine": -1, "gate.min_best_cosine": -1, "floor.min_score": 0}
    for recipe, cut in cuts.items():
        assert profiles.load("default", recipe).number(cut) > lets_all_pass[cut]
        assert (profiles.load("seed", recipe).number(cut) > lets_all_pass[cut]) is (recipe == "brain")
    memory = profiles.load("seed", "memory").values
    assert [
        memory[f"floor.{name}"] for name in ("min_overlap", "min_score", "strong_overlap", "min_cosine")
    ] == [0, 0, 0, -1]


@pytest.mark.parametrize("recipe", ["memory", "brain"])
def test_by_default_the_best_thousand_of_each_channel_are_fused(recipe):
    default = profiles.load("default", recipe)
    assert (default.count("recall.lexical_k"), default.count("recall.dense_k")) == (1000, 1000)
    assert default.choice("fusion.method") == "convex"
