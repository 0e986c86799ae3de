"""What models are asked about pages: plans, and the next action; what they answer is checked against the tree."""
