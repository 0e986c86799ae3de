"""How somebody is logged in by a form: what is asked, how its fields are found, and how its end is judged."""
