"""A figure of a claim in another form than the passage's: the same amount supports it, another does not."""

import pytest

from cragraph import verify

SAME = [
    ("The deposit is 600 pounds.", "The deposit for the hall is £600."),
    ("The salary is £21,600.", "The salary is 21,600 pounds a year."),
    ("The salary is £21,600.", "Post: clerk | salary_gbp: 21600"),
    ("The pool opens at 7 pm.", "The pool opens at 19:00 on Mondays."),
    ("One in five guests is a child.", "20 % of the guests are children."),
    ("The grant is 1,250.50 euros.", "The grant is 1.250,50 euros."),
    ("The fleet landed 830 tonnes.", "The fleet landed 830² tonnes."),
]
OTHER = [
    ("The deposit is 700 pounds.", "The deposit for the hall is £600."),
    ("The salary is £22,600.", "Post: clerk | salary_gbp: 21600"),
    ("The pool opens at 8 pm.", "The pool opens at 19:00 on Mondays."),
    ("The fleet landed 8302 tonnes.", "The fleet landed 830² tonnes."),
    ("The survey counted 106 stars.", "The survey counted 10⁶ stars."),
    ("The parcel weighs 600 pounds.", "The parcel costs £600."),
]


@pytest.mark.parametrize(("claim", "passage"), SAME)
def test_the_same_amount_in_another_form_supports_a_claim(claim: str, passage: str) -> None:
    assert verify(claim, [passage]).accepted


@pytest.mark.parametrize(("claim", "passage"), OTHER)
def test_another_amount_supports_no_claim(claim: str, passage: str) -> None:
    assert not verify(claim, [passage]).accepted
