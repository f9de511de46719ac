"""What the commands on corpora, documents and jobs read and change: by a server of the data folder, or here."""
