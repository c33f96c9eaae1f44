"""The rules of Othello and Awalé, and a common interface to them."""
