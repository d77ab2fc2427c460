"""What is shown of runs, recordings and tunings, in the app and in notebooks: tables, figures and HTML."""
