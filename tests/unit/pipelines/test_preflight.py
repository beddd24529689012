from brokernat.pipelines.preflight import CheckResult, Level, Preflight


def test_the_smallest_code_of_an_error_counts_and_warnings_do_not() -> None:
    results = (
        CheckResult("a", Level.ERROR, "", code=5),
        CheckResult("b", Level.WARNING, "", code=2),
        CheckResult("c", Level.ERROR, "", code=3),
    )
    assert Preflight(results, {}).exit_code == 3
    assert Preflight(results[1:2], {}).exit_code == 0
