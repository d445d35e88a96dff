"""Where each field case has its test: a case without one is a fault of this file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = "field_cases/test_"

# Case -> tests, as file (under tests/, without .py) and the beginning of their names.
CASES = {
    "F01 names with two assumptions": [(f"{HERE}symbolic", "test_f01")],
    "F02 overflow": [
        (f"{HERE}generated", "test_f02"),
        ("theory/test_activation", "test_stable_functions_keep_their_derivatives"),
        ("theory/test_codegen", "test_no_overflow_for_any_finite_logit"),
    ],
    "F03 constants broadcast": [
        (f"{HERE}generated", "test_f03"),
        ("theory/test_codegen", "test_factors_broadcast_like_numpy"),
    ],
    "F04 narrow layer": [
        (f"{HERE}quadrature", "test_f04"),
        ("numerics/test_risk_values", "test_field_case_large_overlaps"),
    ],
    "F05 escape": [(f"{HERE}dynamics", "test_f05")],
    "F07 flow Jacobian": [
        ("numerics/test_flow_jacobian", "test_one_linear_head"),
        ("numerics/test_flow_jacobian", "test_one_softmax_head_at_its_atom"),
        ("numerics/test_saddle_bank", "test_linear_attention_sees_only_the_sum_of_its_heads"),
    ],
    "F08 names with a meaning": [(f"{HERE}input", "test_f08")],
    "F09 softmax-1": [(f"{HERE}generated", "test_f09")],
    "F10 three softmaxes": [
        (f"{HERE}generated", "test_f10"),
        ("test_properties", "test_identical_heads_act_as_one_where_they_must"),
    ],
    "F11 SGD against flow": [
        (f"{HERE}dynamics", "test_f11"),
        ("numerics/test_sgd", "test_first_step_of_linear_attention"),
    ],
    "F13 singular overlaps": [
        ("numerics/test_risk_values", "test_field_case_singular_overlaps"),
    ],
    "F14 physical region": [(f"{HERE}dynamics", "test_f14"), (f"{HERE}input", "test_f14")],
    "F16 removable singularity": [
        ("theory/test_family", "test_a_removable_singularity_is_removed"),
    ],
    "F17 steps and kinks": [
        ("theory/test_family", "test_all_spellings_of_a_ramp_are_one"),
        ("theory/test_family", "test_all_spellings_of_a_step_are_one"),
    ],
    "F18 erf": [("theory/test_closed_forms", "test_field_case_values")],
    "F19 parallel streams": [
        (f"{HERE}statistics", "test_f19"),
        ("numerics/test_sgd", "test_bits_do_not_depend_on_workers"),
    ],
    "F20 error bars": [
        (f"{HERE}statistics", "test_f20"),
        ("numerics/test_statistics", "test_two_runs_have_mean_two_fifths"),
        ("numerics/test_statistics", "test_one_run_has_no_standard_error"),
        ("numerics/test_averages", "test_one_run_has_no_error_and_proves_nothing"),
    ],
    "F21 pickling": [
        ("test_pickling", "test_spawned_workers_give_the_same_bits"),
        ("test_pickling", "test_a_fresh_process_gives_the_same_bits"),
    ],
    "F22 false fixed points": [
        (f"{HERE}dynamics", "test_f22"),
        ("numerics/test_spectrum", "test_a_plateau_is_no_fixed_point"),
    ],
    "F23 undefined range": [(f"{HERE}input", "test_f23")],
    "F24 events": [(f"{HERE}dynamics", "test_f24")],
    "F25 priors": [
        (f"{HERE}input", "test_f25"),
        ("numerics/test_risk_values", "test_field_case_priors"),
    ],
    "F26 bound letters": [
        (f"{HERE}symbolic", "test_f26"),
        ("theory/test_derivation", "test_derivative_of_a_sum_by_one_of_its_own_letters"),
        ("theory/test_index_notation", "test_a_clash_of_letters_is_refused"),
    ],
    "F27 dead heads": [(f"{HERE}generated", "test_f27")],
    "F28 pruning": [
        (f"{HERE}pruning", "test_f28"),
        ("numerics/test_pruning", "test_every_subset_against_sampled_tokens"),
    ],
    "F29 logarithm of the dimension": [
        ("numerics/test_escape", "test_the_slope_is_half_of_one_over_the_rate"),
        ("numerics/test_escape", "test_the_law_against_integrals_over_starts"),
    ],
    "F30 permuted and equal heads": [
        (f"{HERE}statistics", "test_f30"),
        (f"{HERE}statistics", "test_f30_equal_heads_are_flagged"),
        ("numerics/test_sgd", "test_heads_that_are_equal_stay_equal"),
        ("numerics/test_spectrum", "test_the_order_and_rates_of_specialization"),
    ],
    "F31 many nodes": [(f"{HERE}quadrature", "test_f31")],
    "F32 shifted peaks": [(f"{HERE}quadrature", "test_f32")],
    "F33 many dimensions": [(f"{HERE}quadrature", "test_f33")],
    "F34 Sobol points": [
        (f"{HERE}quadrature", "test_f34"),
        ("numerics/test_errors", "test_sobol_error_bars_cover"),
    ],
    "F35 same text": [("theory/test_codegen", "test_same_text_under_six_hash_seeds")],
    "off the manifold": [(f"{HERE}symbolic", "test_every_gradient_is_right")],
    "small types": [(f"{HERE}input", "test_small_types_are_float64_at_the_door")],
    "complex, numeric-only, open Piecewise": [(f"{HERE}input", "test_what_is_not_known_in_full")],
    "floats and fractions": [(f"{HERE}symbolic", "test_floats_and_fractions_are_one_number")],
    "absolute value": [(f"{HERE}symbolic", "test_the_derivative_of_an_absolute_value")],
    "deep compositions": [(f"{HERE}input", "test_deep_compositions_are_refused")],
    "digits of fractions": [(f"{HERE}symbolic", "test_rationals_keep_their_digits")],
}


@pytest.mark.parametrize("case", CASES)
def test_every_case_has_its_tests(case):
    for file, beginning in CASES[case]:
        tree = ast.parse((ROOT / "tests" / f"{file}.py").read_text(encoding="utf-8"))
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        assert any(name.startswith(beginning) for name in names), (file, beginning)


def test_every_test_of_a_case_is_listed():
    listed = {entry for entries in CASES.values() for entry in entries}
    for path in sorted((ROOT / "tests" / "field_cases").glob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name[6:8].isdigit():
                where = (f"field_cases/{path.stem}", node.name[:8])
                assert where in listed, where
