export default {
  // names
  "app.name": "Awello",
  "game.othello": "Othello",
  "game.othello6": "Othello 6×6",
  "game.othello4": "Othello 4×4",
  "game.abapa": "Awalé",
  "game.tournament": "Awalé, règles de tournoi",
  "game.romein": "Awalé, règles de Romein",
  "side.othello.0": "Noir",
  "side.othello.1": "Blanc",
  "side.awale.0": "Sud",
  "side.awale.1": "Nord",
};
