"""What is shown of a question, in the app and in notebooks: tables, figures and HTML. Text of data is escaped."""
