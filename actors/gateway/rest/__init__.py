"""REST: the endpoints, their contract and its OpenAPI document."""
