"""Material for measuring search and answers on what users really have, of many kinds; open a module for one kind."""
