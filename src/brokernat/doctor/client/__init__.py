"""What the client is configured with: its login, whom it trusts, its token."""
