"""The words of HTTP that all surfaces share: answers, bodies, what a client accepts."""
