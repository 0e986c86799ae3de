"""What can be done without any model: goals taken apart into steps, and the next action of a step found in a tree."""
